package local

import (
	"sync"
)

// Budgets remembers whose runs were held back because they have spent too much, until a person is told.
type Budgets struct {
	mu   sync.Mutex
	over map[string]bool
}

func (b *Budgets) Note(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = map[string]bool{}
	}
	b.over[agent] = true
}

func (b *Budgets) Take() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = nil
	return over
}

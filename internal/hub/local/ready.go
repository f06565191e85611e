package local

import (
	"sync"
)

// Turns counts what each agent has taken by priority.
type Turns struct {
	mu    sync.Mutex
	taken map[string]int
}

func NewTurns() *Turns { return &Turns{taken: map[string]int{}} }

func (t *Turns) At(agent string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken[agent]
}

func (t *Turns) Move(agent string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken[agent] += n
}

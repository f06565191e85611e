package local

import (
	"sync"
)

// Bells tell who waits that something has come.
type Bells struct {
	mu    sync.Mutex
	bells map[string]chan struct{} // one for each participant somebody waits for, closed when it rings
}

func NewBells() *Bells { return &Bells{bells: map[string]chan struct{}{}} }

func (b *Bells) Listen(agent string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	bell, ok := b.bells[agent]
	if !ok {
		bell = make(chan struct{})
		b.bells[agent] = bell
	}
	return bell
}

func (b *Bells) Ring(agents ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, agent := range agents {
		if bell, ok := b.bells[agent]; ok {
			close(bell)
			delete(b.bells, agent)
		}
	}
}

package hub

import "sync"

// bells tell who waits that something has come.
type bells struct {
	mu    sync.Mutex
	bells map[string]chan struct{} // one for each participant somebody waits for, closed when it rings
}

func newBells() *bells { return &bells{bells: map[string]chan struct{}{}} }

func (b *bells) listen(agent string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	bell, ok := b.bells[agent]
	if !ok {
		bell = make(chan struct{})
		b.bells[agent] = bell
	}
	return bell
}

func (b *bells) ring(agents ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, agent := range agents {
		if bell, ok := b.bells[agent]; ok {
			close(bell)
			delete(b.bells, agent)
		}
	}
}

package local

import (
	"sync"
)

// Watches tell those who wait for a message that one of its deliveries has moved, those who wait for a task that it has, and
// those who take what is for an agent, or is posted in a conversation, into a tree that there is something.
type Watches struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool // by what is waited for; each channel has room for one sign
}

func NewWatches() *Watches { return &Watches{on: map[string]map[chan struct{}]bool{}} }

func (w *Watches) Join(about ...string) (moved <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sign := make(chan struct{}, 1)
	for _, one := range about {
		if w.on[one] == nil {
			w.on[one] = map[chan struct{}]bool{}
		}
		w.on[one][sign] = true
	}
	return sign, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, one := range about {
			if delete(w.on[one], sign); len(w.on[one]) == 0 {
				delete(w.on, one)
			}
		}
	}
}

// TellAll has everybody look who waits for anything.
func (w *Watches) TellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.on {
		for sign := range waiting {
			Signal(sign)
		}
	}
}

func (w *Watches) Tell(about []string) {
	if len(about) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range about {
		for sign := range w.on[one] {
			Signal(sign)
		}
	}
}

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

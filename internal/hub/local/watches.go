package local

import "sync"

// Signal puts a signal into a channel with a buffer of one, unless one is there already.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Watches wake the callers that wait for a change to a subject: a message, a wait, a task, an approval, a conversation, or
// the inbox of an agent. A subject is named by its id.
type Watches struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool // by subject; each channel has a buffer of one
}

// NewWatches returns watches without subscribers.
func NewWatches() *Watches { return &Watches{on: map[string]map[chan struct{}]bool{}} }

// Join subscribes to subjects. The returned channel gets a signal after a change to one of them, until leave is called.
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

// Watchers is how many subscribers a subject has.
func (w *Watches) Watchers(subject string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.on[subject])
}

// TellAll wakes every subscriber.
func (w *Watches) TellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.on {
		for sign := range waiting {
			Signal(sign)
		}
	}
}

// Tell wakes the subscribers to some subjects.
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

// Bells wake the callers that wait for deliveries to an agent.
type Bells struct {
	mu    sync.Mutex
	bells map[string]chan struct{} // by agent with waiting callers; closed by Ring
}

// NewBells returns bells without waiting callers.
func NewBells() *Bells { return &Bells{bells: map[string]chan struct{}{}} }

// Listen returns a channel that the next Ring for the agent closes.
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

// Ring wakes the callers that wait for deliveries to some agents.
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

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
func (w *Watches) Join(subjects ...string) (changed <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := make(chan struct{}, 1)
	for _, subject := range subjects {
		if w.on[subject] == nil {
			w.on[subject] = map[chan struct{}]bool{}
		}
		w.on[subject][changes] = true
	}
	return changes, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, subject := range subjects {
			if delete(w.on[subject], changes); len(w.on[subject]) == 0 {
				delete(w.on, subject)
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
		for changes := range waiting {
			Signal(changes)
		}
	}
}

// Tell wakes the subscribers to some subjects.
func (w *Watches) Tell(subjects []string) {
	if len(subjects) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, subject := range subjects {
		for changes := range w.on[subject] {
			Signal(changes)
		}
	}
}

// InboxSignals wake the callers that wait for deliveries to an agent.
type InboxSignals struct {
	mu       sync.Mutex
	channels map[string]chan struct{} // by agent with waiting callers; Notify closes them
}

// NewInboxSignals returns signals without waiting callers.
func NewInboxSignals() *InboxSignals { return &InboxSignals{channels: map[string]chan struct{}{}} }

// Listen returns a channel that the next Notify for the agent closes.
func (b *InboxSignals) Listen(agent string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	channel, ok := b.channels[agent]
	if !ok {
		channel = make(chan struct{})
		b.channels[agent] = channel
	}
	return channel
}

// Notify wakes the callers that wait for deliveries to some agents.
func (b *InboxSignals) Notify(agents ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, agent := range agents {
		if channel, ok := b.channels[agent]; ok {
			close(channel)
			delete(b.channels, agent)
		}
	}
}

package local

import (
	"maps"
	"slices"
	"sync"
)

// Rung collects for the dispatcher the agents with a delivery to take or a run to end.
type Rung struct {
	mu     sync.Mutex
	agents map[string]struct{}
	Sign   chan struct{}
}

// NewRung returns an empty set.
func NewRung() *Rung { return &Rung{agents: map[string]struct{}{}, Sign: make(chan struct{}, 1)} }

// Note adds agents, and signals the dispatcher.
func (r *Rung) Note(agents []string) {
	if len(agents) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, agent := range agents {
		r.agents[agent] = struct{}{}
	}
	Signal(r.Sign)
}

// Take returns the agents in the order of their ids, and forgets them.
func (r *Rung) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	agents := slices.Sorted(maps.Keys(r.agents))
	clear(r.agents)
	return agents
}

package local

import (
	"maps"
	"slices"
	"sync"
)

// Rung remembers for the dispatcher who has something to take, or a run to end.
type Rung struct {
	mu     sync.Mutex
	agents map[string]struct{}
	Sign   chan struct{}
}

func NewRung() *Rung { return &Rung{agents: map[string]struct{}{}, Sign: make(chan struct{}, 1)} }

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

func (r *Rung) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	agents := slices.Sorted(maps.Keys(r.agents))
	clear(r.agents)
	return agents
}

package local

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Halts is when work is next due for agents that are paused, stopped or asleep. The hub looks at these agents only then.
type Halts struct {
	mu  sync.Mutex
	due time.Time // zero: look at once
}

// never is the due time when nothing is due.
var never = time.Unix(1<<40, 0)

// Expect notes times at which work will be due.
func (o *Halts) Expect(moments []time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range moments {
		if t.Before(o.due) {
			o.due = t
		}
	}
}

// Begin reports whether it is time to look at halted agents. If so, nothing is due until the next Expect.
func (o *Halts) Begin(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.due) {
		return false
	}
	o.due = never
	return true
}

// summaryEvery is the interval of state summaries.
const summaryEvery = 15 * time.Minute

// Summaries are the agents whose state changed since the last state summary. The other agents need no summary.
type Summaries struct {
	mu      sync.Mutex
	changed map[string]bool
	last    time.Time
}

// Note marks agents as changed.
func (o *Summaries) Note(agents []string) {
	if len(agents) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = map[string]bool{}
	}
	for _, id := range agents {
		o.changed[id] = true
	}
}

// Take returns the agents that changed, and forgets them, when a summary is due. Before that it returns nil.
func (o *Summaries) Take(now time.Time) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.last) < summaryEvery {
		return nil
	}
	agents := slices.Sorted(maps.Keys(o.changed))
	o.changed, o.last = nil, now
	return agents
}

// Budgets are the agents whose runs the hub held back because they spent their budget, until a person is notified.
type Budgets struct {
	mu        sync.Mutex
	overspent map[string]bool
}

// Note marks an agent as over its budget.
func (b *Budgets) Note(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.overspent == nil {
		b.overspent = map[string]bool{}
	}
	b.overspent[agent] = true
}

// Take returns the agents over their budget, and forgets them.
func (b *Budgets) Take() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	overspent := b.overspent
	b.overspent = nil
	return overspent
}

// TakeCounts counts the deliveries that each agent took by priority.
type TakeCounts struct {
	mu    sync.Mutex
	taken map[string]int
}

// NewTakeCounts returns a counter at zero.
func NewTakeCounts() *TakeCounts { return &TakeCounts{taken: map[string]int{}} }

// At returns how many deliveries an agent took by priority.
func (t *TakeCounts) At(agent string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken[agent]
}

// Add adds to the count of an agent.
func (t *TakeCounts) Add(agent string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken[agent] += n
}

// DueAgents collects for the dispatcher the agents with a delivery to take or a run to end.
type DueAgents struct {
	mu     sync.Mutex
	agents map[string]struct{}
	Sign   chan struct{}
}

// NewDueAgents returns an empty set.
func NewDueAgents() *DueAgents {
	return &DueAgents{agents: map[string]struct{}{}, Sign: make(chan struct{}, 1)}
}

// Note adds agents, and signals the dispatcher.
func (r *DueAgents) Note(agents []string) {
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
func (r *DueAgents) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	agents := slices.Sorted(maps.Keys(r.agents))
	clear(r.agents)
	return agents
}

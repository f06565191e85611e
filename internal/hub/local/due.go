package local

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Halts knows when something is next due for agents that are paused, stopped or asleep, so that nobody
// looks at all of them all the time.
type Halts struct {
	mu  sync.Mutex
	due time.Time // 0: look at once
}

// never is when nothing is due.
var never = time.Unix(1<<40, 0)

// Expect notes moments at which something will be due.
func (o *Halts) Expect(moments []time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range moments {
		if t.Before(o.due) {
			o.due = t
		}
	}
}

// Begin says whether it is time to look, and notes that somebody does.
func (o *Halts) Begin(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.due) {
		return false
	}
	o.due = never
	return true
}

// summaryEvery is how often the state of the agents is summed up.
const summaryEvery = 15 * time.Minute

// Summaries knows whose state has changed since the last summary. For all others there is nothing to say.
type Summaries struct {
	mu      sync.Mutex
	stirred map[string]bool
	last    time.Time
}

func (o *Summaries) Note(agents []string) {
	if len(agents) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stirred == nil {
		o.stirred = map[string]bool{}
	}
	for _, id := range agents {
		o.stirred[id] = true
	}
}

// Take returns whom there is something to say of, once it is time.
func (o *Summaries) Take(now time.Time) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.last) < summaryEvery {
		return nil
	}
	agents := slices.Sorted(maps.Keys(o.stirred))
	o.stirred, o.last = nil, now
	return agents
}

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

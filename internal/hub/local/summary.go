package local

import (
	"maps"
	"slices"
	"sync"
	"time"
)

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

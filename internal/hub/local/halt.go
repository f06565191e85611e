package local

import (
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

package alert

import (
	"sync/atomic"
)

// tally counts measurements, and how many of them are over a limit. Counting never blocks.
type tally struct{ all, over atomic.Int64 }

func (t *tally) add(over bool) {
	t.all.Add(1)
	if over {
		t.over.Add(1)
	}
}

// counts are the values of a tally at one time.
type counts struct{ all, over int64 }

func (c counts) share() float64 {
	if c.all == 0 {
		return 0
	}
	return float64(c.over) / float64(c.all)
}

// window is a tally over the most recent checks.
type window struct {
	tally  *tally
	checks int      // the length of the window
	past   []counts // at the last checks, the oldest first
}

// advance adds a check to the window, and returns the counts since the oldest check in it.
func (w *window) advance() counts {
	now := counts{w.tally.all.Load(), w.tally.over.Load()}
	if len(w.past) == 0 {
		w.past = append(w.past, counts{})
	}
	oldest := w.past[0]
	if len(w.past) == w.checks {
		w.past = append(w.past[:0], w.past[1:]...)
	}
	w.past = append(w.past, now)
	return counts{now.all - oldest.all, now.over - oldest.over}
}

package alert

import (
	"sync/atomic"
)

// tally counts things, and those of them that are over a limit. Whoever counts does not wait.
type tally struct{ all, over atomic.Int64 }

func (t *tally) add(over bool) {
	t.all.Add(1)
	if over {
		t.over.Add(1)
	}
}

// counts are what a tally has counted.
type counts struct{ all, over int64 }

func (c counts) share() float64 {
	if c.all == 0 {
		return 0
	}
	return float64(c.over) / float64(c.all)
}

// window is what a tally has counted lately: since so many looks ago.
type window struct {
	tally *tally
	looks int
	past  []counts // at the last looks, the oldest first
}

// look returns what was counted since the oldest look that counts.
func (w *window) look() counts {
	now := counts{w.tally.all.Load(), w.tally.over.Load()}
	if len(w.past) == 0 {
		w.past = append(w.past, counts{})
	}
	oldest := w.past[0]
	if len(w.past) == w.looks {
		w.past = append(w.past[:0], w.past[1:]...)
	}
	w.past = append(w.past, now)
	return counts{now.all - oldest.all, now.over - oldest.over}
}

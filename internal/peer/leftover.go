package peer

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// Started tells a process from a later one with the same number.
func (r *Registry) Started(pid int) (int64, error) {
	p, err := look(pid)
	return int64(p.started), err
}

const lookEvery = 10 * time.Millisecond

// Kill ends what runs have left behind, and returns when nothing of it goes on, or with ctx: the group of the
// process each began with, if that is still the same process, and on Linux everything of this user that has the
// id of one in its environment.
func (r *Registry) Kill(ctx context.Context, runs []parley.Run) error {
	l := leftovers{groups: map[int]bool{}, runs: map[string]bool{}}
	for _, run := range runs {
		l.runs[run.ID] = true
		began := run.Process
		if began.PID <= 1 {
			continue // it had none, and what has no number would be the hub's own group
		}
		if p, err := look(began.PID); err == nil && int64(p.started) == began.Started {
			l.groups[began.PID] = true
		}
	}
	for {
		if none, err := l.kill(); none || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// leftovers are what to look for: process groups, and runs.
type leftovers struct {
	groups map[int]bool
	runs   map[string]bool
}

package peer

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// Started returns the start time of a process. It distinguishes the process from a later one with the same number.
func (r *Registry) Started(pid int) (int64, error) {
	p, err := look(pid)
	return int64(p.started), err
}

const lookEvery = 10 * time.Millisecond

// Kill ends the processes that runs have left behind, and returns when all have ended, or with ctx. These are the processes in
// the session of each run's first process, even if that process has ended. On Linux they are also the processes with the mark
// of a run, or with its id in their environment. The process of a registered run need not be given.
func (r *Registry) Kill(ctx context.Context, runs []parley.Run) error {
	l := leftovers{sessions: map[int]time.Duration{}, marks: map[uint64]bool{}, runs: map[string]bool{}}
	registered := r.runs()
	for _, run := range runs {
		l.runs[run.ID] = true
		began := run.Process
		if known, ok := registered[run.ID]; ok {
			began = known
		}
		delete(registered, run.ID)
		l.marks[r.markOf(run.ID)] = true
		if began.PID <= 1 {
			continue // the run had no process, and 0 would mean the processes of the hub
		}
		if p, err := look(began.PID); err != nil || int64(p.started) == began.Started {
			l.sessions[began.PID] = time.Duration(began.Started)
		}
	}
	delete(l.marks, 0)
	for other := range registered {
		if mark := r.markOf(other); l.marks[mark] { // two runs may have the same mark
			delete(l.marks, mark)
			r.distrust(mark)
		}
	}
	err := l.end(ctx)
	if err != nil {
		r.distrust(slices.Collect(maps.Keys(l.marks))...)
	}
	return err
}

// Sweep ends all processes that earlier runs of this hub left behind. It works only on Linux. The caller must call it before
// the first run starts.
func (r *Registry) Sweep(ctx context.Context) error {
	if r.markOf("") == 0 {
		return nil
	}
	return leftovers{ours: r.isOurs}.end(ctx)
}

// leftovers describes the processes to end.
type leftovers struct {
	sessions map[int]time.Duration // start time of the leader of a session, by the leader's number
	marks    map[uint64]bool
	ours     func(mark uint64) bool // further marks; may be nil
	runs     map[string]bool        // ids that PARLEY_RUN may have
}

// end kills the processes, repeatedly, until there are none.
func (l leftovers) end(ctx context.Context) error {
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

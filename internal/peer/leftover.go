package peer

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// Started returns the start time of a process, which distinguishes it from a later process with the same PID. It returns an error
// if there is no such process.
func (r *Registry) Started(pid int) (int64, error) {
	p, err := processOf(pid)
	return int64(p.started), err
}

const killInterval = 10 * time.Millisecond

// Kill kills the processes that runs have left behind. It returns when all of them have ended, or with the error of ctx when ctx
// is done. It kills the processes in the session of each run's first process, even if that process has ended. On Linux it also
// kills the processes with the mark of a run, or with the id of a run in their environment. For a registered run, Process may be
// empty.
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
			continue // the run had no process; 0 would stand for the processes of the hub
		}
		if p, err := processOf(began.PID); err != nil || int64(p.started) == began.Started {
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

// Sweep kills all processes that earlier runs of this hub have left behind. It returns when all of them have ended, or with the
// error of ctx when ctx is done. The caller must call it before the first run starts. On systems without marks, Sweep does
// nothing.
func (r *Registry) Sweep(ctx context.Context) error {
	if r.markOf("") == 0 {
		return nil
	}
	return leftovers{isOwn: r.isOurs}.end(ctx)
}

// leftovers describes the processes to kill.
type leftovers struct {
	sessions map[int]time.Duration // the start time of the leader of each session, by the PID of the leader
	marks    map[uint64]bool
	isOwn    func(mark uint64) bool // reports whether to kill processes with a mark; may be nil
	runs     map[string]bool        // the ids of the runs
}

// end kills the processes again and again, until there are none.
func (l leftovers) end(ctx context.Context) error {
	for {
		if none, err := l.kill(); none || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(killInterval):
		}
	}
}

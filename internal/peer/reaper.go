package peer

import (
	"context"
	"os"
	"time"
)

// grace is how long the reaper ignores a child of the hub that belongs to no run. In this time, the code that started the child
// can wait for it or register it as the process of a run.
const grace = time.Second

// Reaper kills the processes that ended runs have left behind, and waits for leftover processes that became children of the hub.
// So they neither stay in the process table nor outlive the hub. The reaper leaves processes of live runs, and programs of the
// hub itself, alone.
type Reaper struct {
	registry      *Registry
	grace         time.Duration
	lastLeftovers map[int]process // the leftovers that the last check found
}

// NewReaper makes a reaper that leaves the registered processes alone.
func NewReaper(r *Registry) *Reaper {
	return &Reaper{registry: r, grace: grace, lastLeftovers: map[int]process{}}
}

// Run kills and waits for leftover processes until ctx is done. Then it kills all leftover processes and returns. It is idle
// while no child of the hub ends.
func (r *Reaper) Run(ctx context.Context, started func()) {
	childEnded, ignore := notifyOfChildren()
	defer ignore()
	started()
	timer := time.NewTimer(r.grace) // some children may have ended already
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			r.end()
			return
		case <-childEnded:
			timer.Reset(r.grace)
		case <-timer.C:
			if r.check() {
				timer.Reset(r.grace)
			}
		}
	}
}

// check kills or waits for the leftovers that the last check also found, and reports whether there are leftovers for the next
// check.
func (r *Reaper) check() (again bool) {
	now, live := map[int]process{}, r.registry.liveRuns()
	for pid, s := range processes() {
		_, claimed := r.registry.claimOf(pid, s.started)
		isOurs := s.parent == os.Getpid() && s.ended && !claimed
		if !isOurs && !r.isLeftover(pid, s, live) {
			continue
		}
		before, known := r.lastLeftovers[pid]
		known = known && before == s.process
		switch {
		case known && s.ended:
			waitFor(pid)
			continue
		case known:
			r.kill(pid, live) // the next check waits for it
		}
		now[pid] = s.process
	}
	r.lastLeftovers = now
	return len(now) > 0
}

// maxKillRounds is how often end kills the leftovers, if a process does not end.
const maxKillRounds = 100

// end kills all leftovers when the hub stops, again and again, because a killed process may leave its own children behind.
func (r *Reaper) end() {
	for range maxKillRounds {
		none, live := true, r.registry.liveRuns()
		for pid, s := range processes() {
			if r.isLeftover(pid, s, live) && r.kill(pid, live) {
				none = false
			}
		}
		if none {
			return
		}
		time.Sleep(killInterval)
	}
}

// processState is a process, whether it has ended, and its mark.
type processState struct {
	process
	ended bool
	mark  uint64
}

// liveRuns says by which marks and times the reaper recognises processes of live runs.
type liveRuns struct {
	marks  map[uint64]bool
	oldest time.Duration // start time of the oldest live run; 0 if there is none
}

func (r *Registry) liveRuns() liveRuns {
	l := liveRuns{marks: map[uint64]bool{}}
	for run, p := range r.runs() {
		l.marks[r.markOf(run)] = true
		if began := time.Duration(p.Started); l.oldest == 0 || began < l.oldest {
			l.oldest = began
		}
	}
	return l
}

// isLeftover reports whether a process comes from a run that has ended. If the process has a mark, the mark decides. A child of
// the hub without a mark is a leftover if it was started after the first run and is in neither the hub's session, which no
// process can join, nor the session of a run. On systems without marks, it must also be older than every live run, because it
// could come from one of them. If the hub is the first process of a container, it becomes the parent of all orphans, so only a
// mark decides.
func (r *Reaper) isLeftover(pid int, s processState, l liveRuns) bool {
	marks := r.registry.markOf("") != 0
	_, claimed := r.registry.claimOf(pid, s.started)
	_, inRun := r.registry.runIn(s.session)
	first, some := r.registry.firstRun()
	switch {
	case s.ended || claimed || inRun || pid == os.Getpid() || marks && l.marks[s.mark]:
		return false
	case marks && r.registry.isOurs(s.mark):
		return true
	case s.parent != os.Getpid() || os.Getpid() == 1:
		return false
	case !some || s.started < first || s.session == ownSession():
		return false
	default:
		return marks || l.oldest == 0 || s.started < l.oldest
	}
}

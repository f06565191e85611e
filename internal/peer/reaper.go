package peer

import (
	"context"
	"os"
	"time"
)

// grace is how long the reaper ignores a child that belongs to no run. Until then the code that started the child can wait for
// it, or register it as the process of a run.
const grace = time.Second

// Reaper ends the processes that ended runs have left, and waits for those that became children of the hub, so that they
// neither stay in the process table nor outlive the hub. It never touches a process of a live run, nor a program of the hub
// itself.
type Reaper struct {
	registry *Registry
	grace    time.Duration
	seen     map[int]process // at the last check
}

// NewReaper makes a reaper that never touches registered processes.
func NewReaper(r *Registry) *Reaper {
	return &Reaper{registry: r, grace: grace, seen: map[int]process{}}
}

// Run ends and reaps leftover processes until ctx is done. Then it ends all that are left. It sleeps while no child ends.
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
			if r.look() {
				timer.Reset(r.grace)
			}
		}
	}
}

// look ends or reaps the leftovers that it also found the last time, and reports whether there are others.
func (r *Reaper) look() (again bool) {
	now, live := map[int]process{}, r.registry.live()
	for pid, s := range processes() {
		_, claimed := r.registry.claimOf(pid, s.started)
		isOurs := s.parent == os.Getpid() && s.ended && !claimed
		if !isOurs && !r.isLeftover(pid, s, live) {
			continue
		}
		before, known := r.seen[pid]
		known = known && before == s.process
		switch {
		case known && s.ended:
			waitFor(pid)
			continue
		case known:
			r.kill(pid, live) // the next look reaps it
		}
		now[pid] = s.process
	}
	r.seen = now
	return len(now) > 0
}

const maxLooks = 100 // while stopping, if a process does not end

// end kills all leftovers when the hub stops, including those that their end leaves behind.
func (r *Reaper) end() {
	for range maxLooks {
		none, live := true, r.registry.live()
		for pid, s := range processes() {
			if r.isLeftover(pid, s, live) && r.kill(pid, live) {
				none = false
			}
		}
		if none {
			return
		}
		time.Sleep(lookEvery)
	}
}

// seen is a process and its state at one look.
type seen struct {
	process
	ended bool
	mark  uint64
}

// live identifies the processes of live runs.
type live struct {
	marks  map[uint64]bool
	oldest time.Duration // start time of the oldest live run; 0 if there is none
}

func (r *Registry) live() live {
	l := live{marks: map[uint64]bool{}}
	for run, p := range r.runs() {
		l.marks[r.markOf(run)] = true
		if began := time.Duration(p.Started); l.oldest == 0 || began < l.oldest {
			l.oldest = began
		}
	}
	return l
}

// isLeftover reports whether a process comes from a run that has ended. If the process has a mark, the mark decides. A child of the
// hub without a mark counts as left if it was started after the first run, and is neither in the hub's session, which no
// process can join, nor in the session of a run. On systems without marks it must also be older than every live run, because it
// could come from one. If the hub is the first process of a container, it inherits all orphans, so there only a mark decides.
func (r *Reaper) isLeftover(pid int, s seen, l live) bool {
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

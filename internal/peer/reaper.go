package peer

import (
	"context"
	"os"
	"time"
)

// grace is how long a child that belongs to no run is left alone: one that has ended to whoever started it, one
// that lives to become a run's.
const grace = time.Second

// Reaper ends the processes that ended runs have left, and waits for those that became children of the hub, so that they
// neither stay in the process table nor outlive the hub. It never touches a process of a live run, nor a program of the hub
// itself.
type Reaper struct {
	registry *Registry
	grace    time.Duration
	seen     map[int]process // at the last look
}

// NewReaper makes one that leaves the registered processes alone.
func NewReaper(r *Registry) *Reaper {
	return &Reaper{registry: r, grace: grace, seen: map[int]process{}}
}

// Run looks after processes until ctx is done, and ends what is left then. It rests while no child ends.
func (r *Reaper) Run(ctx context.Context, started func()) {
	childEnded, ignore := notifyOfChildren()
	defer ignore()
	started()
	timer := time.NewTimer(r.grace) // some may have ended already
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

// look does away with those that were there at the last look too, and says whether there are others.
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
			r.kill(pid, live) // and wait for it at the next look
		}
		now[pid] = s.process
	}
	r.seen = now
	return len(now) > 0
}

const mostLooks = 100 // at the stop, while something is left that does not end

// end ends all that is left when the hub stops. What that leaves is its to end too.
func (r *Reaper) end() {
	for range mostLooks {
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

// seen is a process as it was found.
type seen struct {
	process
	ended bool
	mark  uint64
}

// live tells which processes belong to a live run.
type live struct {
	marks  map[uint64]bool
	oldest time.Duration // when the oldest of them was started; 0: there is none
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

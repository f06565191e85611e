package peer

import (
	"context"
	"os"
	"time"
)

// grace is how long a child that belongs to no run is left alone: one that has ended to whoever started it, one
// that lives to become a run's.
const grace = time.Second

// Reaper ends the processes that ended runs have left to the hub, and waits for them, so that they neither stay in
// the system's table nor outlive the hub: after its restart nobody could tell that they come from an agent. It
// never touches a process of a run, nor one that its starter waits for.
type Reaper struct {
	registry *Registry
	grace    time.Duration
	seen     map[int]process // at the last look
}

// NewReaper makes one that leaves the registered processes alone.
func NewReaper(r *Registry) *Reaper {
	return &Reaper{registry: r, grace: grace, seen: map[int]process{}}
}

// Run looks after children until ctx is done, and ends what is left then. It rests while none ends.
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
	now, all := map[int]process{}, children()
	for pid, c := range all {
		if _, run := r.registry.agentOf(pid); run || !c.ended && !r.left(c, all) {
			continue
		}
		before, known := r.seen[pid]
		known = known && before == c.process
		switch {
		case known && c.ended:
			waitFor(pid)
			continue
		case known:
			kill(pid) // and wait for it at the next look
		}
		now[pid] = c.process
	}
	r.seen = now
	return len(now) > 0
}

const mostLooks = 100 // at the stop, while something is left that does not end

// end ends all that is left when the hub stops. What that leaves is its to end too.
func (r *Reaper) end() {
	for range mostLooks {
		none, all := true, children()
		for pid, c := range all {
			if _, run := r.registry.agentOf(pid); !run && !c.ended && r.left(c, all) {
				none = false
				kill(pid)
			}
		}
		if none {
			return
		}
		time.Sleep(lookEvery)
	}
}

// child is a child of this process.
type child struct {
	process
	group int
	ended bool
}

// left says whether a child that belongs to no run comes from one that has ended: it is not in the hub's own
// group, as what the hub starts otherwise would be, some run was started before it, and none of those that go on.
// The first process of a container is given all orphans of it, so that there nothing is certain.
func (r *Reaper) left(c child, all map[int]child) bool {
	first, some := r.registry.firstRun()
	if !some || c.started < first || c.group == ownGroup() || os.Getpid() == 1 {
		return false
	}
	for pid, other := range all {
		if _, run := r.registry.agentOf(pid); run && other.started <= c.started {
			return false
		}
	}
	return true
}

package peer

import (
	"context"
	"time"
)

// grace is how long a child that has ended and belongs to no run is left to whoever started it.
const grace = time.Second

// Reaper waits for the processes that ended runs have left to the hub, so that they do not stay in the
// system's table. It never waits for a process of a run, nor for one that its starter waits for.
type Reaper struct {
	registry *Registry
	grace    time.Duration
	ended    map[int]process // at the last look
}

// NewReaper makes one that leaves the registered processes alone.
func NewReaper(r *Registry) *Reaper {
	return &Reaper{registry: r, grace: grace, ended: map[int]process{}}
}

// Run waits for children that end, until ctx is done. It rests while none does.
func (r *Reaper) Run(ctx context.Context, started func()) {
	childEnded, ignore := notifyOfChildren()
	defer ignore()
	started()
	timer := time.NewTimer(r.grace) // some may have ended already
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
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

// look waits for those that had ended at the last look too, and says whether others have.
func (r *Reaper) look() (again bool) {
	now := map[int]process{}
	for pid, p := range endedChildren() {
		if _, run := r.registry.agentOf(pid); run {
			continue
		}
		if before, known := r.ended[pid]; known && before == p {
			waitFor(pid)
		} else {
			now[pid] = p
		}
	}
	r.ended = now
	return len(now) > 0
}

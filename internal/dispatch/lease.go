package dispatch

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

const (
	keepEvery = 20 * time.Second
	leaseTime = 60 * time.Second // how long the leases last that ExtendRunLease gives
	// minAskInterval is the shortest time between two calls of ExtendRunLease for a run.
	minAskInterval = time.Second
)

// extendLease extends the leases of the run until ctx is done. It ends the run if a participant has cancelled it, if it has ended in
// the hub, or if the leases could not be extended for longer than leaseTime.
func (r *activeRun) extendLease(ctx context.Context, end context.CancelCauseFunc) {
	kept := time.Now()
	next := time.NewTimer(keepEvery)
	defer next.Stop()
	for asked := kept; ; {
		select {
		case <-ctx.Done():
			return
		case <-r.checkNow:
			next.Reset(max(0, minAskInterval-time.Since(asked)))
			continue
		case <-next.C:
		}
		why, err := r.hub.ExtendRunLease(ctx, r.Run.ID)
		asked = time.Now()
		next.Reset(keepEvery)
		switch {
		case err == nil && why != "":
			end(cancelled(why))
		case err == nil:
			kept = asked
		case hasEnded(err):
			end(errEnded)
		case time.Since(kept) > leaseTime:
			end(errLost)
		case ctx.Err() == nil:
			r.options.Log.Warn("cannot extend the lease of a run; retrying soon", "run", r.Run.ID, "error", err)
			next.Reset(minAskInterval)
		}
	}
}

// checkSoon makes the run check soon whether a participant has cancelled it.
func (r *activeRun) checkSoon() {
	select {
	case r.checkNow <- struct{}{}:
	default:
	}
}

// hasEnded reports whether an error means that the run has ended or belongs to another process.
func hasEnded(err error) bool {
	switch parley.AsError(err).Reason {
	case parley.Conflict, parley.NotFound, parley.Gone:
		return true
	default:
		return false
	}
}

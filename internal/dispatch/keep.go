package dispatch

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

const (
	keepEvery = 20 * time.Second
	leaseTime = 60 * time.Second // what the hub gives
	// minAskInterval is how often it is asked at most whether somebody wants a run to end.
	minAskInterval = time.Second
)

// keep extends the leases of the run until ctx is done, and ends the run when somebody wants that, or when it is
// not this process's any more.
func (l *activeRun) keep(ctx context.Context, end context.CancelCauseFunc) {
	kept := time.Now()
	next := time.NewTimer(keepEvery)
	defer next.Stop()
	for asked := kept; ; {
		select {
		case <-ctx.Done():
			return
		case <-l.checkNow:
			next.Reset(max(0, minAskInterval-time.Since(asked)))
			continue
		case <-next.C:
		}
		why, err := l.hub.KeepRun(ctx, l.Run.ID)
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
			l.options.Log.Warn("the lease of a run could not be extended", "run", l.Run.ID, "error", err)
			next.Reset(minAskInterval)
		}
	}
}

// checkSoon makes the run check soon whether a participant has cancelled it.
func (l *activeRun) checkSoon() {
	select {
	case l.checkNow <- struct{}{}:
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

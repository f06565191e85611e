package bridges

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// troubleGrace is how long a bridge that cannot look at its tree is given: what keeps it may go away at once.
const troubleGrace = 2 * time.Second

// AwaitBridge returns a bridge once its first scan is over: every later file is delivered. It returns earlier when the time
// is up, when something prevents the scan, when the bridge is paused, and when no worker of this process runs it; the state
// says so. E003 if the bridge is removed. Only an owner may call it.
func (s *Service) AwaitBridge(ctx context.Context, caller unit.Caller, id string, wait time.Duration) (parley.BridgeView, error) {
	end := time.NewTimer(wait)
	defer end.Stop()
	var troubled <-chan time.Time
	for {
		noted, runs := s.BridgeStates.Next()
		view, err := s.BridgeAt(caller).Bridge(ctx, id)
		if err != nil || view.Status.Looked || view.Paused || !runs || view.Outside && !view.Status.Running {
			return view, err
		}
		if troubled == nil && view.Status.Trouble != "" {
			troubled = time.After(troubleGrace)
		}
		select {
		case <-noted:
		case <-troubled:
			return view, nil
		case <-end.C:
			return view, nil
		case <-ctx.Done():
			return view, s.Explain(ctx, caller, ctx.Err())
		}
	}
}

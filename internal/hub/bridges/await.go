package bridges

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// troubleGrace is how long a bridge that cannot look at its tree is given: what keeps it may go away at once.
const troubleGrace = 2 * time.Second

// AwaitBridge returns a bridge once its first look at its tree is over: every file that appears later is delivered. It returns
// earlier, with a state that says so, when the time is up, when something keeps the bridge from looking, when the bridge is
// paused, and when nobody in this process runs it. E003 if the bridge is removed. Only an owner may.
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

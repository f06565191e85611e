package cli

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// hubRetry waits for a hub that is away, until a deadline.
type hubRetry struct {
	app      *app
	deadline time.Time
	told     bool
}

func (a *app) newHubRetry(most time.Duration) *hubRetry {
	return &hubRetry{app: a, deadline: time.Now().Add(most)}
}

const retryPause = 300 * time.Millisecond

// call makes a call again as long as the hub is away and the deadline ahead, and says once that it does.
func (p *hubRetry) call(ctx context.Context, call func() error) error {
	for {
		err := call()
		if !isUnavailable(err) || !time.Now().Before(p.deadline) {
			return err
		}
		if !p.told {
			p.app.say("note: %s; retrying", parley.AsError(err).Message)
			p.told = true
		}
		select {
		case <-time.After(min(retryPause, time.Until(p.deadline))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func isUnavailable(err error) bool { return parley.CodeOf(err) == parley.Unavailable }

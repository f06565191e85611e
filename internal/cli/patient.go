package cli

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// patient waits for a hub that is away, until a deadline.
type patient struct {
	app      *app
	deadline time.Time
	told     bool
}

func (a *app) patient(most time.Duration) *patient {
	return &patient{app: a, deadline: time.Now().Add(most)}
}

const retryPause = 300 * time.Millisecond

// try makes a call again as long as the hub is away and the deadline ahead, and says once that it does.
func (p *patient) try(ctx context.Context, call func() error) error {
	for {
		err := call()
		if !isAway(err) || !time.Now().Before(p.deadline) {
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

func isAway(err error) bool { return parley.CodeOf(err) == parley.Unavailable }

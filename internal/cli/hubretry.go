package cli

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// hubRetry repeats calls while the hub is unavailable, until a deadline.
type hubRetry struct {
	app      *app
	deadline time.Time
	printed  bool
}

func (a *app) newHubRetry(limit time.Duration) *hubRetry {
	return &hubRetry{app: a, deadline: time.Now().Add(limit)}
}

const retryPause = 300 * time.Millisecond

// call repeats a call while the hub is unavailable and the deadline has not passed. It prints once that it retries.
func (h *hubRetry) call(ctx context.Context, call func() error) error {
	for {
		err := call()
		if !isUnavailable(err) || !time.Now().Before(h.deadline) {
			return err
		}
		if !h.printed {
			h.app.printStderr("note: %s; retrying", parley.AsError(err).Message)
			h.printed = true
		}
		select {
		case <-time.After(min(retryPause, time.Until(h.deadline))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// isUnavailable reports whether an error says that the hub is unavailable.
func isUnavailable(err error) bool { return parley.CodeOf(err) == parley.Unavailable }

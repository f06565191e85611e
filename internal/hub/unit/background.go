package unit

import (
	"context"
	"time"

	"github.com/parley-hub/parley/internal/storage"
)

// Background is work that a started hub does until ctx ends. The function calls started once it is ready.
type Background = func(ctx context.Context, started func())

// awaitPoll is how often Await looks for changes that other processes wrote.
const awaitPoll = 2 * time.Second

// Await waits until done returns true or an error. It calls done at once, after each change to the subject named by about,
// and every two seconds. It returns ErrWaited when the time is up, and the context's error when the context ends.
func (c *Core) Await(ctx context.Context, about string, wait time.Duration, done func() (bool, error)) error {
	moved, leave := c.Watches.Join(about)
	defer leave()
	poll, end := time.NewTicker(awaitPoll), time.NewTimer(wait)
	defer poll.Stop()
	defer end.Stop()
	for {
		// Subscribed before looking, so that no change is missed.
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-poll.C:
		case <-end.C:
			return ErrWaited
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Regularly calls sweep at the given interval until ctx ends. It logs errors and goes on.
func (c *Core) Regularly(ctx context.Context, started func(), every time.Duration, sweep func(context.Context) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				c.Config.Log.Error("sweeping failed, will try again", "error", err)
			}
		}
	}
}

// Repeat runs part in one update after another until part returns 0. It returns the sum of the results.
func (c *Core) Repeat(ctx context.Context, part func(storage.Tx) (int, error)) (total int, err error) {
	for {
		var n int
		err := c.Store.Update(ctx, func(tx storage.Tx) (err error) {
			n, err = part(tx)
			return err
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}

package unit

import (
	"context"
	"time"

	"github.com/parley-hub/parley/internal/storage"
)

// Background is work that a started hub does besides, until ctx ends. It calls started once it is ready.
type Background = func(ctx context.Context, started func())

// awaitPoll is for what other processes have written.
const awaitPoll = 2 * time.Second

// Await waits until done, which is asked whenever a wait, or a task, has moved. errWaited when the
// time is up, the error of the context when that ends.
func (c *Core) Await(ctx context.Context, about string, wait time.Duration, done func() (bool, error)) error {
	moved, leave := c.Watches.Join(about)
	defer leave()
	poll, end := time.NewTicker(awaitPoll), time.NewTimer(wait)
	defer poll.Stop()
	defer end.Stop()
	for {
		// Looked at after joining, so that nothing falls between.
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

// Regularly calls sweep until ctx is done.
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

// Repeat runs an update that does a part of a work until nothing is left of it, and says how much it was.
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

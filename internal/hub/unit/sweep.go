package unit

import (
	"context"
	"time"

	"github.com/parley-hub/parley/internal/storage"
)

const SweepBatch = 200

const PurgeBatch = 1000

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

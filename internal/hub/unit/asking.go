package unit

import (
	"context"
	"errors"
	"time"
)

var (
	ErrWaited = errors.New("the time is up")
	ErrGone   = errors.New("what was waited for is gone")
)

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

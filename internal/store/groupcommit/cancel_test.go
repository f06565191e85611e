package groupcommit

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
)

func TestCallerCancelledWhileItWaits(t *testing.T) {
	withWriter(t, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		f.Together(f.Plain("before"), func() {
			f.SubmitWith(ctx, "cancelled")
			cancel()
			synctest.Wait()
			f.Refused("cancelled", context.Canceled) // told at once, while another update runs
		}, f.Plain("after"))
		f.Acknowledged("before", "after")
		f.Ran("cancelled", 0)
		f.Batches(3)
	})
}

func TestCallerCancelledWhileTheQueueIsFull(t *testing.T) {
	withWriter(t, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		f.Together(func() {
			for i := range batchUpdates {
				f.Submit(fmt.Sprint("queued-", i))
			}
			f.SubmitWith(ctx, "cancelled")
			cancel()
			synctest.Wait()
			f.Refused("cancelled", context.Canceled)
		})
		f.Ran("cancelled", 0)
		f.Acknowledged("queued-0", fmt.Sprint("queued-", batchUpdates-1))
	})
}

func TestCallerCancelledOnceItsUpdateRuns(t *testing.T) {
	withWriter(t, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		f.Together(f.Plain("before"), func() {
			f.SubmitWith(ctx, "cancelled", func(t *tx) error {
				cancel()
				return t.add("arya") // statements still run
			})
		}, f.Plain("after"))
		f.Acknowledged("before", "cancelled", "after")
		f.Batches(4)
	})
}

func TestEveryCallerCancelled(t *testing.T) {
	withWriter(t, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		f.Together(func() {
			for i := range 10 {
				f.SubmitWith(ctx, fmt.Sprint("cancelled-", i))
			}
			cancel()
			synctest.Wait()
		})
		f.Batches(1)
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}

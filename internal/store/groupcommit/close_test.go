package groupcommit

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

func TestCloseFinishesQueuedUpdatesAndRefusesNewOnes(t *testing.T) {
	withWriter(t, func(f *fixture) {
		release := f.Hold()
		f.Submit("waiting")
		closed := make(chan struct{})
		go func() {
			f.close()
			close(closed)
		}()
		synctest.Wait()
		f.Submit("late")
		if err := f.Outcome("late"); parley.CodeOf(err) != parley.Unavailable {
			f.Errorf("a late update was told %v", err)
		}
		select {
		case <-closed:
			f.Error("it closed before the queued updates ended")
		default:
		}
		release()
		<-closed
		f.Acknowledged("held", "waiting")
		f.Ran("late", 0)
	})
}

func TestHaltedWriterRefusesUpdatesThatHaveNotStarted(t *testing.T) {
	withWriter(t, func(f *fixture) {
		reason := errors.New("the check found damage")
		release := f.Hold()
		f.Submit("queued")
		f.writer.Halt(reason)
		release()
		f.Acknowledged("held")
		f.Refused("queued", reason)
		f.Ran("queued", 0)
		f.writer.Resume()
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}

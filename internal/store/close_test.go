package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

func nothing(storage.Tx) error { return nil }

func TestClosedStoreRefuses(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.close()
		for name, call := range map[string]func(context.Context, func(storage.Tx) error) error{
			"Update": f.store.Update, "View": f.store.View,
		} {
			if err := call(context.Background(), nothing); parley.CodeOf(err) != parley.Unavailable {
				f.Errorf("%s was told %v", name, err)
			}
		}
		if err := f.store.Close(); err != nil {
			f.Errorf("closing again: %v", err)
		}
	})
}

func TestCloseWaitsForViews(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Submit("stored")
		gate, viewed, closed := make(chan struct{}), make(chan error, 1), make(chan struct{})
		go func() {
			viewed <- f.store.View(context.Background(), func(tx storage.Tx) error {
				<-gate
				_, err := tx.Log().Events(0, 10)
				return err
			})
		}()
		synctest.Wait()
		go func() {
			f.close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			f.Error("it closed under a view")
		default:
		}
		close(gate)
		if err := <-viewed; err != nil {
			f.Errorf("the view was told %v", err)
		}
		<-closed
	})
}

func TestHaltRefusesUpdatesAndLetsViewsGoOn(t *testing.T) {
	withStore(t, func(f *fixture) {
		reason := errors.New("the check found damage")
		release := f.Hold()
		f.Submit("waiting")
		f.store.Halt(reason)
		release()
		f.Acknowledged("held") // it had begun
		f.Refused("waiting", reason)
		f.Submit("later")
		f.WG.Wait()
		f.Refused("later", reason)
		f.Ran("waiting", 0)
		if err := f.store.View(context.Background(), func(tx storage.Tx) error {
			_, err := tx.Log().Events(0, 10)
			return err
		}); err != nil {
			f.Errorf("a view was told %v", err)
		}
	})
}

func TestViewWaitsForAConnectionNoLongerThanItsContext(t *testing.T) {
	withStore(t, func(f *fixture) {
		gate := make(chan struct{})
		done := make(chan error)
		for range cap(f.driver.readers) {
			go func() {
				done <- f.store.View(context.Background(), func(storage.Tx) error {
					<-gate
					return nil
				})
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { done <- f.store.View(ctx, nothing) }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			f.Errorf("got %v", err)
		}
		close(gate)
		for range cap(f.driver.readers) {
			if err := <-done; err != nil {
				f.Error(err)
			}
		}
	})
}

package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func nothing(storage.Tx) error { return nil }

func TestCloseFinishesWhatWaitsAndRefusesTheRest(t *testing.T) {
	play(t, func(s *scene) {
		release := s.hold()
		s.submit("waiting")
		closed := make(chan error, 1)
		go func() { closed <- s.store.Close() }()
		synctest.Wait()
		s.submit("late")
		if err := s.outcome("late"); parley.CodeOf(err) != parley.Unavailable {
			s.Errorf("a late update was told %v", err)
		}
		select {
		case err := <-closed:
			s.Errorf("it closed before what waited was done: %v", err)
		default:
		}
		release()
		if err := <-closed; err != nil {
			s.Errorf("closing: %v", err)
		}
		s.acknowledged("held", "waiting")
		s.ran("late", 0)
	})
}

func TestClosedStoreRefuses(t *testing.T) {
	play(t, func(s *scene) {
		s.close()
		for name, call := range map[string]func(context.Context, func(storage.Tx) error) error{
			"Update": s.store.Update, "View": s.store.View,
		} {
			if err := call(context.Background(), nothing); parley.CodeOf(err) != parley.Unavailable {
				s.Errorf("%s was told %v", name, err)
			}
		}
		if err := s.store.Close(); err != nil {
			s.Errorf("closing again: %v", err)
		}
	})
}

func TestCloseWaitsForViews(t *testing.T) {
	play(t, func(s *scene) {
		s.submit("stored")
		gate, viewed, closed := make(chan struct{}), make(chan error, 1), make(chan struct{})
		go func() {
			viewed <- s.store.View(context.Background(), func(tx storage.Tx) error {
				<-gate
				_, err := tx.Log().Events(0, 10)
				return err
			})
		}()
		synctest.Wait()
		go func() {
			s.close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			s.Error("it closed under a view")
		default:
		}
		close(gate)
		if err := <-viewed; err != nil {
			s.Errorf("the view was told %v", err)
		}
		<-closed
	})
}

func TestHaltRefusesUpdatesAndLetsViewsGoOn(t *testing.T) {
	play(t, func(s *scene) {
		reason := errors.New("the check found damage")
		release := s.hold()
		s.submit("waiting")
		s.store.Halt(reason)
		release()
		s.acknowledged("held") // it had begun
		s.refused("waiting", reason)
		s.submit("later")
		s.wg.Wait()
		s.refused("later", reason)
		s.ran("waiting", 0)
		if err := s.store.View(context.Background(), func(tx storage.Tx) error {
			_, err := tx.Log().Events(0, 10)
			return err
		}); err != nil {
			s.Errorf("a view was told %v", err)
		}
	})
}

func TestViewWaitsForAConnectionNoLongerThanItsContext(t *testing.T) {
	play(t, func(s *scene) {
		gate := make(chan struct{})
		done := make(chan error)
		for range cap(s.driver.readers) {
			go func() {
				done <- s.store.View(context.Background(), func(storage.Tx) error {
					<-gate
					return nil
				})
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { done <- s.store.View(ctx, nothing) }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			s.Errorf("got %v", err)
		}
		close(gate)
		for range cap(s.driver.readers) {
			if err := <-done; err != nil {
				s.Error(err)
			}
		}
	})
}

package service

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStartedThenStopped(t *testing.T) {
	ended := false
	s := New(func(ctx context.Context, started func()) {
		started()
		started() // saying it twice does no harm
		<-ctx.Done()
		ended = true
	})
	s.Start(t.Context())
	s.Start(t.Context()) // it runs already
	<-s.Started()
	s.Stop()
	if !ended {
		t.Error("Stop returned before the service had ended")
	}
	s.Stop() // and again
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := New(func(ctx context.Context, _ func()) { <-ctx.Done() })
	s.Start(ctx)
	cancel()
	s.Stop()
	select {
	case <-s.Started():
		t.Error("it never said that it was ready")
	default:
	}
}

func TestStoppingBeforeTheStartDoesNothing(t *testing.T) {
	New(func(context.Context, func()) { t.Error("it ran") }).Stop()
}

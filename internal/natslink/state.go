package natslink

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// state says whether there is a connection, and whether publishing works.
type state struct {
	mu      sync.Mutex
	up      chan struct{} // closed while there is a connection
	isUp    bool
	reason  string        // why there is no connection
	trouble string        // why nothing is published in spite of a connection
	changed chan struct{} // has an element if the state may have changed
}

func newState() *state { return &state{up: make(chan struct{}), changed: make(chan struct{}, 1)} }

// connect records whether there is a connection, and reports whether that or the reason changed.
func (s *state) connect(up bool, reason string) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew = s.isUp != up || s.reason != reason
	switch {
	case up && !s.isUp:
		close(s.up)
	case !up && s.isUp:
		s.up = make(chan struct{})
	}
	s.isUp, s.reason = up, reason
	s.signal()
	return isNew
}

// notePublishing records the result of publishing.
func (s *state) notePublishing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = ""
	if err != nil {
		s.trouble = err.Error()
	}
	s.signal()
}

func (s *state) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// currentTrouble returns the current problem, or "".
func (s *state) currentTrouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isUp {
		if s.reason == "" {
			return "there is no connection yet"
		}
		return s.reason
	}
	return s.trouble
}

func (s *state) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isUp
}

// await waits for a connection. It returns the error of ctx if ctx ends first.
func (s *state) await(ctx context.Context) error {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch alerts people when a problem lasts for a while, and when it is over.
func (l *Link) watch(ctx context.Context, started func()) {
	started()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var since time.Time // since when there is a problem
	for {
		select {
		case <-l.state.changed:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		problem := l.state.currentTrouble()
		switch {
		case problem == "":
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
			timer.Reset(l.AlertDelay)
			continue
		case time.Since(since) < l.AlertDelay:
			continue
		}
		if err := l.hub.Alert(ctx, awayAlert(problem), problem != ""); err != nil && ctx.Err() == nil {
			l.Log.Error("cannot notify people that NATS is unreachable; retrying", "error", err)
			timer.Reset(l.AlertDelay)
		}
	}
}

func awayAlert(problem string) parley.Alert {
	return parley.Alert{
		Name: "nats", Title: "NATS is unreachable", Message: "the hub cannot publish to NATS: " + problem,
		Suggestion: "check that the server runs; the hub keeps all messages, and publishes them after it reconnects",
	}
}

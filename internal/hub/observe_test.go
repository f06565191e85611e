package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestEventsOfAWorkspaceAreNoPresence: the hub follows events for a client of MCP, which may have left.
func TestEventsOfAWorkspaceAreNoPresence(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddPollingAgents("ana")
	following, end := context.WithCancel(ctx)
	begun, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for range w.At(as("ana")).Events(following, parley.EventFilter{}) {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	}()
	defer func() { end(); <-ended }()
	for waiting := true; waiting; { // the workspace follows the events a moment later
		w.SendDM("user", "ana", "hello")
		select {
		case <-begun:
			waiting = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	same(t, "after its call", w.presenceStatuses()["ana"], "idle")
	w.Clock.Advance(2 * parley.AwayAfter)
	same(t, "later", w.presenceStatuses()["ana"], "offline away")
}

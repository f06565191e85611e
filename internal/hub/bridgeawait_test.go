package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// awaitFirstLook waits for the first scan of a bridge in the background.
func (w *fixture) awaitFirstLook(id string, wait time.Duration) <-chan parley.BridgeView {
	w.T.Helper()
	got := make(chan parley.BridgeView, 1)
	go func() {
		view, err := w.AwaitBridge(ctx, user, id, wait)
		if err != nil {
			w.T.Errorf("%v", err)
		}
		got <- view
	}()
	return got
}

// noteBridgeStatus reports a status as a bridge.
func (w *fixture) noteBridgeStatus(id string, s parley.BridgeStatus) {
	w.T.Helper()
	w.NoError(w.BridgeAt(user).NoteBridge(ctx, id, s))
}

func TestTheFirstLookOfABridgeIsAwaited(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.BridgesChanged() // somebody runs them
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	added := resultOf[parley.BridgeView](w)(w.BridgeAt(user).Bridge(ctx, "tree"))
	same(t, "before it runs", added.State, parley.BridgeLooking)
	got := w.awaitFirstLook("tree", time.Minute)
	w.noteBridgeStatus("tree", parley.BridgeStatus{Running: true, Added: added.CreatedAt})
	select {
	case view := <-got:
		t.Fatalf("it is %s, and has not looked", view.State)
	default:
	}
	w.noteBridgeStatus("tree", parley.BridgeStatus{Running: true, Added: added.CreatedAt, Looked: true})
	view := <-got
	same(t, "after its first look", []any{view.State, view.Status.Looked}, []any{parley.BridgeRunning, true})
}

// What a removed bridge says last does not count for the one that has its id now.
func TestTheFirstLookIsThatOfTheBridgeThatWasAdded(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.BridgesChanged()
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	before := resultOf[parley.BridgeView](w)(w.BridgeAt(user).Bridge(ctx, "tree"))
	w.NoError(w.RemoveBridge(ctx, user, "tree"))
	w.Clock.Advance(time.Second)
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	w.noteBridgeStatus("tree", parley.BridgeStatus{Running: true, Added: before.CreatedAt, Looked: true})
	view := resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "tree", time.Millisecond))
	same(t, "the state", []any{view.State, view.Status.Looked}, []any{parley.BridgeLooking, false})
}

func TestTheFirstLookIsNotAwaitedForEver(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	view := resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "tree", time.Hour))
	same(t, "nobody runs it here", view.State, parley.BridgeLooking)
	w.BridgesChanged()

	view = resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "tree", time.Millisecond))
	same(t, "the time is up", view.State, parley.BridgeLooking)

	w.noteBridgeStatus("tree", parley.BridgeStatus{Trouble: "permission denied"})
	view = resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "tree", time.Hour))
	same(t, "it cannot look", []any{view.State, view.Status.Trouble}, []any{parley.BridgeFailing, "permission denied"})

	w.pauseBridge("tree", true)
	view = resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "tree", time.Hour))
	same(t, "it is paused", view.State, parley.BridgePaused)

	_, err := w.AddBridge(ctx, user, parley.NewBridge{ID: "far", Layout: parley.LayoutInbox, Root: "/srv/far", Agents: []string{"ben"}, Outside: true})
	w.NoError(err)
	view = resultOf[parley.BridgeView](w)(w.AwaitBridge(ctx, user, "far", time.Hour))
	same(t, "it waits for parley bridge run", view.State, parley.BridgeNotRunning)

	gone, cancel := context.WithCancel(ctx)
	cancel()
	w.pauseBridge("tree", false)
	w.noteBridgeStatus("tree", parley.BridgeStatus{Running: true})
	if _, err := w.AwaitBridge(gone, user, "tree", time.Hour); err == nil {
		t.Error("the caller has gone, and is waited for")
	}
	w.NoError(w.RemoveBridge(ctx, user, "tree"))
	if _, err := w.AwaitBridge(ctx, user, "tree", time.Hour); parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("a removed bridge: %v", err)
	}
	if _, err := w.AwaitBridge(ctx, as("ana"), "far", time.Hour); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("not an owner: %v", err)
	}
}

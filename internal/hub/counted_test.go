package hub_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// credentialed are callers with a credential, by the doors that begin no call themselves.
func (w *world) credentialed() map[string]hub.Caller {
	w.t.Helper()
	w.dispatched("arya")
	made, err := w.NewToken(ctx, hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}, parley.NewToken{Agent: "arya"})
	w.ok(err)
	token, err := w.Identify(ctx, made.Secret)
	w.ok(err)
	token.Source = "nats"
	w.dm(parley.Owner, "arya", "do it")
	return map[string]hub.Caller{"a run within the hub's process": w.starts("arya").Caller(), "a token on NATS": token}
}

// TestCallsOfEveryDoorAreCounted: what a door does not begin, the hub counts itself.
func TestCallsOfEveryDoorAreCounted(t *testing.T) {
	for _, name := range []string{"a run within the hub's process", "a token on NATS"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newHub(t, func(w *world) {
					w.config.Load = hub.Load{Reading: 1, Searching: 1, Changing: 1, Waiting: 1, Reads: hub.Rate{PerSecond: 1000, Burst: 1000}}
				})
				w.add("ned")
				arya := w.credentialed()[name]
				at := w.At(arya)
				post := func() error {
					_, err := at.Post(ctx, parley.Draft{Direct: []string{"ned"}, Content: text("hi")})
					return err
				}
				for _, test := range []struct {
					work      hub.Work
					name, key string
					call      func() error
				}{
					{hub.Reading, "calls that read", "calls.reads", func() error { _, err := at.Who(ctx); return err }},
					{hub.Searching, "searches", "calls.searches", func() error { _, err := at.Search(ctx, parley.SearchRequest{Query: "x"}); return err }},
					{hub.Changing, "changes", "calls.changes", post},
					{hub.Waiting, "waiting calls", "calls.waits", func() error { _, err := at.Contact(ctx, notifies("ned", "x")); return err }},
				} {
					w.ok(test.call())
					same(t, "under way afterwards", w.Underway("arya", test.work), 0)
					end := begun(w, arya, test.work)
					if err, want := test.call(), busy("arya", 1, test.name, test.key); err == nil || err.Error() != want.Error() {
						t.Errorf("%s: got %v, want %v", test.name, err, want)
					}
					end()
					w.ok(test.call())
				}
			})
		})
	}
}

// TestReadsOfEveryDoorHaveARate, and what finds out who calls does not count.
func TestReadsOfEveryDoorHaveARate(t *testing.T) {
	w := newHub(t, func(w *world) { w.config.Load.Reads = hub.Rate{PerSecond: 1, Burst: 1} })
	for name, caller := range w.credentialed() {
		w.clock.advance(time.Second)
		get[parley.Agent](w)(w.Me(ctx, caller))
		get[[]parley.Presence](w)(w.Who(ctx, caller))
		if _, err := w.Who(ctx, caller); parley.AsError(err).Reason != parley.RateLimited {
			t.Errorf("%s: the second read gives %v", name, err)
		}
	}
}

// TestACallIsCountedOnce: the use cases of a call that a door has begun take no further places.
func TestACallIsCountedOnce(t *testing.T) {
	w := newHub(t, func(w *world) {
		w.config.Load = hub.Load{Reading: 1, Searching: 1, Changing: 1, Reads: hub.Rate{PerSecond: 1, Burst: 1}}
	})
	w.add("arya", "ned")
	arya := hub.Caller{Agent: "arya", Scopes: slices.Clone(parley.AllScopes())}
	for _, work := range []hub.Work{hub.Reading, hub.Changing} {
		begun, err := w.Begin(ctx, arya, work)
		w.ok(err)
		get[[]parley.Presence](w)(w.Who(ctx, begun.Caller))
		get[parley.Receipt](w)(w.Post(ctx, begun.Caller, parley.Draft{Direct: []string{"ned"}, Content: text("hi")}))
		begun.End()
	}
}

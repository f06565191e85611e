package hub_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// callersWithCredentials returns callers with a credential, for each way to the hub that does not count its calls itself.
func (w *fixture) callersWithCredentials() map[string]hub.Caller {
	w.T.Helper()
	w.AddScriptAgents("arya")
	made, err := w.NewToken(ctx, hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	token, err := w.Identify(ctx, made.Secret)
	w.NoError(err)
	token.Source = "nats"
	w.SendDM(parley.Owner, "arya", "do it")
	return map[string]hub.Caller{"a run within the hub's process": w.StartRun("arya").Caller(), "a token on NATS": token}
}

// TestCallsOverEveryInterfaceAreCounted: what a door does not begin, the hub counts itself.
func TestCallsOverEveryInterfaceAreCounted(t *testing.T) {
	w := newHub(t, func(w *fixture) {
		w.Config.Load = hub.Load{Reading: 1, Searching: 1, Changing: 1, Waiting: 1, Reads: hub.Rate{PerSecond: 1000, Burst: 1000}}
	})
	w.AddAgents("ned")
	for door, arya := range w.callersWithCredentials() {
		at := w.At(arya)
		for work, call := range map[hub.CallKind]func() error{
			hub.Reading:   func() error { return errorOf(at.Who(ctx)) },
			hub.Searching: func() error { return errorOf(at.Search(ctx, parley.SearchRequest{Query: "x"})) },
			hub.Changing: func() error {
				return errorOf(at.Post(ctx, parley.Draft{Direct: []string{"ned"}, Content: text("hi")}))
			},
		} {
			w.NoError(call())
			end := beginWork(w, arya, work)
			done := make(chan error, 1)
			go func() { done <- call() }()
			for w.Queued("arya") == 0 {
				if len(done) > 0 {
					t.Fatalf("%s: a call of the sort %d does not wait for its turn: %v", door, work, <-done)
				}
				runtime.Gosched()
			}
			end()
			w.NoError(<-done)
			same(t, "under way afterwards", w.Underway("arya", work), 0)
		}
		contact := func() error { return errorOf(at.Contact(ctx, notifyContact("ned", "x"))) }
		w.NoError(contact())
		end := beginWork(w, arya, hub.Waiting)
		wantError(t, contact(), busy("arya", 1, "waiting calls", "calls.waits"))
		end()
	}
}

// TestReadsOverEveryInterfaceHaveARate, and what finds out who calls does not count.
func TestReadsOverEveryInterfaceHaveARate(t *testing.T) {
	w := newHub(t, func(w *fixture) { w.Config.Load.Reads = hub.Rate{PerSecond: 1, Burst: 1} })
	for name, caller := range w.callersWithCredentials() {
		w.Clock.Advance(time.Second)
		resultOf[parley.Agent](w)(w.Me(ctx, caller))
		resultOf[[]parley.Presence](w)(w.Who(ctx, caller))
		if _, err := w.Who(ctx, caller); parley.AsError(err).Reason != parley.RateLimited {
			t.Errorf("%s: the second read gives %v", name, err)
		}
	}
}

// TestACallIsCountedOnce: the use cases of a call that a door has begun take no further places.
func TestACallIsCountedOnce(t *testing.T) {
	w := newHub(t, func(w *fixture) {
		w.Config.Load = hub.Load{Reading: 1, Searching: 1, Changing: 1, Reads: hub.Rate{PerSecond: 1, Burst: 1}}
	})
	w.AddAgents("arya", "ned")
	arya := hub.Caller{Agent: "arya", Scopes: slices.Clone(parley.AllScopes())}
	for _, work := range []hub.CallKind{hub.Reading, hub.Changing} {
		begun, err := w.Begin(ctx, arya, work)
		w.NoError(err)
		resultOf[[]parley.Presence](w)(w.Who(ctx, begun.Caller))
		resultOf[parley.Receipt](w)(w.Post(ctx, begun.Caller, parley.Draft{Direct: []string{"ned"}, Content: text("hi")}))
		begun.End()
	}
}

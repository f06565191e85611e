package hub_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func beginWork(w *fixture, by hub.Caller, work hub.CallKind) func() {
	w.T.Helper()
	begun, err := w.Begin(ctx, by, work)
	w.NoError(err)
	return begun.End
}

func busy(who string, n int, what, key string) *parley.Error {
	e := refusalError(parley.Unavailable, parley.RateLimited, fmt.Sprintf("%s has %d %s in progress, which is the limit", who, n, what),
		"wait until one of them ends, or ask an owner to raise "+key+" in config.yaml")
	e.RetryAfter = time.Second
	return e
}

// TestOneParticipantHasSoMuchUnderWay: what lasts is refused at once, each sort for itself, and each participant has its own.
func TestOneParticipantHasSoMuchUnderWay(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	limits := hub.DefaultLoad()
	for _, test := range []struct {
		work      hub.CallKind
		limit     int
		name, key string
	}{
		{hub.Waiting, limits.Waiting, "waiting calls", "calls.waits"},
		{hub.Streaming, limits.Streaming, "event streams", "calls.streams"},
		{hub.Uploading, limits.Uploading, "uploads", "calls.uploads"},
		{hub.Sending, limits.Sending, "downloads", "calls.downloads"},
	} {
		var ends []func()
		for range test.limit {
			ends = append(ends, beginWork(w, as("arya"), test.work))
		}
		over := func() error { _, err := w.Begin(ctx, as("ARYA"), test.work); return err }
		w.assertRefusals(t, []refusal{{"one more", over, busy("arya", test.limit, test.name, test.key)}})
		beginWork(w, as("ned"), test.work)()
		ends[0]()
		ends[0]() // twice is once
		beginWork(w, as("arya"), test.work)
		w.assertRefusals(t, []refusal{{"one came, one went", over, busy("arya", test.limit, test.name, test.key)}})
		same(t, "under way", w.Underway("arya", test.work), test.limit)
	}
}

// TestFiftyAgentsPollAtOnce holds at the defaults, for fifty agents and for fifty calls of one.
func TestFiftyAgentsPollAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	for n := range 50 {
		id := fmt.Sprint("a", n)
		w.AddAgents(id)
		beginWork(w, as(id), hub.Waiting)
		beginWork(w, as("a0"), hub.Waiting)
	}
	same(t, "under way", w.Underway("a0", hub.Waiting), 51)
}

// TestShortCallsWaitForTheirTurn: those that are over soon are not refused but wait, a moment and not too many.
func TestShortCallsWaitForTheirTurn(t *testing.T) {
	for _, work := range []hub.CallKind{hub.Reading, hub.Searching, hub.Changing} {
		place := stores.NewPlace(t) // outside the bubble: what all tests share begins with it
		synctest.Test(t, func(t *testing.T) {
			w := openFixture(t, place, func(w *fixture) { w.Config.Load = hub.Load{Reading: 1, Searching: 1, Changing: 1} })
			w.AddAgents("arya")
			end := beginWork(w, as("arya"), work)
			next := make(chan error, 1)
			go func() {
				second, err := w.Begin(ctx, as("arya"), work)
				if err == nil {
					second.End()
				}
				next <- err
			}()
			synctest.Wait()
			end()
			if err := <-next; err != nil {
				t.Error(err)
			}
			end = beginWork(w, as("arya"), work)
			defer end()
			before := time.Now()
			if _, err := w.Begin(ctx, as("arya"), work); parley.AsError(err).Reason != parley.RateLimited || time.Since(before) != 2*time.Second {
				t.Errorf("after %v: %v", time.Since(before), err)
			}
			limited, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			if _, err := w.Begin(limited, as("arya"), work); err == nil {
				t.Error("a caller that has gone was let in")
			}
		})
	}
}

// TestOwnersAreExemptFromLoadLimits: also where agents have all there is.
func TestOwnersAreExemptFromLoadLimits(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) {
		w.Config.Load = hub.Load{AllStreaming: 2, Streaming: 2, Reads: hub.Rate{PerSecond: 1, Burst: 1}}
	})
	w.AddAgents("arya", "ned")
	w.AddPerson("sansa", parley.AccessMember)
	beginWork(w, as("arya"), hub.Streaming)
	w.Clock.Advance(time.Second)
	beginWork(w, as("arya"), hub.Streaming)
	full := refusalError(parley.Unavailable, "", "this hub has 2 event streams in progress, which is the limit", "try again in a moment")
	full.RetryAfter = time.Second
	w.assertRefusals(t, []refusal{
		{"all are taken", func() error { _, err := w.Begin(ctx, as("ned"), hub.Streaming); return err }, full},
	})
	for range 5 { // neither bound nor rate
		beginWork(w, user, hub.Streaming)
		beginWork(w, user, hub.Searching)
		beginWork(w, hub.Caller{Agent: "arya", By: parley.Owner}, hub.Streaming)
	}
	w.NoError(func() error { _, err := w.Begin(ctx, as("sansa"), hub.Reading); return err }())
	over := refusalError(parley.Unavailable, parley.RateLimited, "sansa made more than 1 reads per second", "try again in 1s; a search counts as 10 reads")
	over.RetryAfter = time.Second
	w.assertRefusals(t, []refusal{{"reads have a rate", func() error { _, err := w.Begin(ctx, as("sansa"), hub.Reading); return err }, over}})
}

// TestASearchCountsAsTenReads.
func TestASearchCountsAsTenReads(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for range 40 {
		beginWork(w, as("arya"), hub.Searching)()
	}
	if _, err := w.Begin(ctx, as("arya"), hub.Reading); parley.AsError(err).Reason != parley.RateLimited {
		t.Errorf("got %v", err)
	}
	w.Clock.Advance(10 * time.Millisecond)
	beginWork(w, as("arya"), hub.Reading)()
}

// TestEndedCallsAreForgotten: a participant that has nothing under way costs nothing.
func TestEndedCallsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for work := hub.Reading; work <= hub.Sending; work++ {
		beginWork(w, as("arya"), work)()
	}
	same(t, "kept", w.Shares(), 0)
}

package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func rateLimited(who string, perSecond float64, wait time.Duration) *parley.Error {
	e := refusalError(parley.Unavailable, parley.RateLimited, fmt.Sprintf("%s made more than %g changes per second", who, perSecond),
		"try again in "+wait.String())
	e.RetryAfter = wait
	return e
}

// postOnce makes a post that stores nothing after the first time, so that a test can use up a rate fast.
func postOnce(w *fixture, by hub.Caller) error {
	_, err := w.Post(ctx, by, parley.Draft{Direct: []string{"user"}, Content: text("hi"), IdempotencyKey: "k"})
	return err
}

func TestRateIsFiftyASecondWithABurstOfTwoHundred(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for range 200 {
		w.NoError(postOnce(w, as("arya")))
	}
	over := func() error { return postOnce(w, as("arya")) }
	w.assertRefusals(t, []refusal{
		{"the 201st", over, rateLimited("arya", 50, 20*time.Millisecond)},
		{"the 202nd is no worse", over, rateLimited("arya", 50, 20*time.Millisecond)},
	})
	w.NoError(postOnce(w, as("ned"))) // each has a rate of its own
	w.Clock.Advance(15 * time.Millisecond)
	w.assertRefusals(t, []refusal{{"too early", over, rateLimited("arya", 50, 5*time.Millisecond)}})
	w.Clock.Advance(5 * time.Millisecond)
	w.NoError(over())
	w.assertRefusals(t, []refusal{{"right after", over, rateLimited("arya", 50, 20*time.Millisecond)}})
	w.Clock.Advance(time.Second)
	for range 50 {
		w.NoError(over())
	}
	w.assertRefusals(t, []refusal{{"after a second's worth", over, rateLimited("arya", 50, 20*time.Millisecond)}})
	_, err := w.Agents(ctx, as("arya"))
	w.NoError(err) // only changes are counted
}

func TestRateExemptsOwnersBridgesAndTheHub(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 1, Burst: 1} })
	w.AddAgents("arya")
	w.AddPerson("jon", parley.AccessOwner)
	w.AddPerson("sansa", parley.AccessMember)
	for _, by := range []hub.Caller{as("jon"), as(parley.System), {Agent: "arya", Source: "file"}} {
		for range 3 {
			if err := postOnce(w, by); err != nil {
				t.Errorf("%v: %v", by, err)
			}
		}
	}
	w.NoError(postOnce(w, as("sansa")))
	w.assertRefusals(t, []refusal{
		{"a member of the hub is not exempt", func() error { return postOnce(w, as("sansa")) }, rateLimited("sansa", 1, time.Second)},
	})
	w.NoError(postOnce(w, as("arya")))
	w.assertRefusals(t, []refusal{
		{"nor an agent by another door", func() error { return postOnce(w, as("arya")) }, rateLimited("arya", 1, time.Second)},
		{"nor by another spelling", func() error { return postOnce(w, as("ARYA")) }, rateLimited("arya", 1, time.Second)},
		{"nor by another change", func() error { return w.Join(ctx, as("arya"), "open") }, rateLimited("arya", 1, time.Second)},
	})
}

func TestRateCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1} })
	w.AddAgents("arya")
	for range 250 {
		w.NoError(postOnce(w, as("arya")))
	}
}

func TestRateOfZeroIsNoLimit(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 0, Burst: 1} })
	w.AddAgents("arya")
	for range 5 {
		w.NoError(postOnce(w, as("arya")))
	}
}

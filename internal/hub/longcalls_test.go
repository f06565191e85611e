package hub_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// callerWithToken returns the caller of a token.
func (w *fixture) callerWithToken(made parley.MadeToken) hub.Caller {
	w.T.Helper()
	return resultOf[hub.Caller](w)(w.Identify(ctx, made.Secret))
}

func (w *fixture) holdCall(by hub.Caller) context.Context {
	w.T.Helper()
	held, release, err := w.WatchCredential(ctx, by)
	w.NoError(err)
	w.T.Cleanup(release)
	return held
}

// inHold runs a test in a synctest bubble, so that only the test advances the time.
func inHold(t *testing.T, test func(*testing.T, *fixture)) {
	t.Helper()
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.Start(ctx)
		w.AddAgents("arya", "ned")
		test(t, w)
	})
}

// ended requires that exactly the named calls have ended, with the given cause.
func ended(t *testing.T, want *parley.Error, held map[string]context.Context, names ...string) {
	t.Helper()
	synctest.Wait()
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	for name, ctx := range held {
		if got := ctx.Err() != nil; got != wanted[name] {
			t.Errorf("the call of %s has ended: %v", name, got)
		}
		if wanted[name] {
			wantError(t, context.Cause(ctx), want)
		}
	}
}

func TestRevocationEndsTheCallsOfItsTokenAtOnce(t *testing.T) {
	inHold(t, func(t *testing.T, w *fixture) {
		first, second, other := w.callerWithToken(w.MakeToken("arya")), w.callerWithToken(w.MakeToken("arya")), w.callerWithToken(w.MakeToken("ned"))
		held := map[string]context.Context{
			"first": w.holdCall(first), "first again": w.holdCall(first), "second": w.holdCall(second), "other": w.holdCall(other), "local": w.holdCall(as("arya")),
		}
		began := time.Now()
		w.NoError(w.RevokeToken(ctx, user, first.Token))
		ended(t, notKnown, held, "first", "first again")
		same(t, "time that has passed", time.Since(began), time.Duration(0))
		w.NoError(w.RevokeToken(ctx, as("arya"), second.Token))
		ended(t, notKnown, held, "first", "first again", "second")
	})
}

func TestRemovalEndsAllCallsOfTheRemovedAgent(t *testing.T) {
	inHold(t, func(t *testing.T, w *fixture) {
		acting, err := w.ActAs(ctx, user, "arya", "test")
		w.NoError(err)
		held := map[string]context.Context{
			"token": w.holdCall(w.callerWithToken(w.MakeToken("arya"))), "local": w.holdCall(as("ARYA")), "acting": w.holdCall(acting),
			"other": w.holdCall(w.callerWithToken(w.MakeToken("ned"))),
		}
		w.NoError(w.RemoveAgent(ctx, user, "arya"))
		ended(t, notKnown, held, "token", "local", "acting")
	})
}

func TestRevokedOwnerStopsActingAsOthers(t *testing.T) {
	inHold(t, func(t *testing.T, w *fixture) {
		me := w.callerWithToken(w.MakeToken("user"))
		acting, err := w.ActAs(ctx, me, "arya", "test")
		w.NoError(err)
		held := map[string]context.Context{"acting": w.holdCall(acting)}
		w.NoError(w.RevokeToken(ctx, user, me.Token))
		ended(t, notKnown, held, "acting")
	})
}

func TestExpiryEndsCalls(t *testing.T) {
	inHold(t, func(t *testing.T, w *fixture) {
		short, err := w.NewToken(ctx, scoped("user"), parley.NewToken{Agent: "arya", For: time.Hour})
		w.NoError(err)
		held := map[string]context.Context{"short": w.holdCall(w.callerWithToken(short)), "long": w.holdCall(w.callerWithToken(w.MakeToken("arya")))}
		w.Clock.Advance(time.Hour - time.Millisecond)
		time.Sleep(time.Second) // of the bubble: the clock is looked at
		ended(t, nil, held)
		w.Clock.Advance(time.Millisecond)
		time.Sleep(time.Second)
		ended(t, expired, held, "short")
	})
}

func TestHoldEndsWithItsContextAndItsRelease(t *testing.T) {
	inHold(t, func(t *testing.T, w *fixture) {
		given, giveUp := context.WithCancelCause(ctx)
		held, release, err := w.WatchCredential(given, as("arya"))
		w.NoError(err)
		reason := errors.New("the caller has gone")
		giveUp(reason)
		same(t, "the cause", errors.Is(context.Cause(held), reason), true)
		release()
		released, release, err := w.WatchCredential(ctx, as("arya"))
		w.NoError(err)
		release()
		w.NoError(w.RemoveAgent(ctx, user, "arya"))
		synctest.Wait()
		same(t, "the cause of a release", errors.Is(context.Cause(released), context.Canceled), true)
	})
}

func TestHoldRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gone")
	revoked, removed, forgotten := w.callerWithToken(w.MakeToken("arya")), w.callerWithToken(w.MakeToken("gone")), w.callerWithToken(w.MakeToken("arya"))
	short, err := w.NewToken(ctx, scoped("user"), parley.NewToken{Agent: "arya", For: time.Hour})
	w.NoError(err)
	over := w.callerWithToken(short)
	w.NoError(w.RevokeToken(ctx, user, revoked.Token))
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	w.Clock.Advance(time.Hour)
	forgotten.Token = parley.NewSecret()
	gone := refusalError(parley.NotPermitted, "", "gone is not a participant of this hub", "ask an owner of this hub to add it")
	hold := func(by hub.Caller) func() error {
		return func() error {
			held, _, err := w.WatchCredential(ctx, by)
			same(t, "held", held, nil)
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"a revoked token", hold(revoked), notKnown},
		{"a forgotten token", hold(forgotten), notKnown},
		{"an expired token", hold(over), expired},
		{"a removed holder", hold(removed), gone},
		{"a removed local caller", hold(as("gone")), gone},
	})
}

// TestNoHoldSurvivesARevocation begins calls while their token is revoked: each is refused or ends.
func TestNoHoldSurvivesARevocation(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya")
	for range 20 {
		made := w.MakeToken("arya")
		me := w.callerWithToken(made)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				held, release, err := w.WatchCredential(ctx, me)
				if err != nil {
					wantError(t, err, notKnown)
					return
				}
				defer release()
				<-held.Done()
				wantError(t, context.Cause(held), notKnown)
			})
		}
		w.NoError(w.RevokeToken(ctx, user, made.ID))
		group.Wait()
	}
}

// TestHoldEndsThoughTheLogDoesNotReachBack has the log erased before anybody has followed it.
func TestHoldEndsThoughTheLogDoesNotReachBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	me := w.callerWithToken(w.MakeToken("arya"))
	gone, kept := w.holdCall(me), w.holdCall(as("arya"))
	w.NoError(w.RevokeToken(ctx, user, me.Token))
	w.AddAgents("ned")
	w.Clock.Advance(8 * 24 * time.Hour)
	w.NoError(w.Sweep(ctx))
	w.Start(ctx)
	<-gone.Done()
	wantError(t, context.Cause(gone), notKnown)
	w.NoError(kept.Err())
	w.NoError(w.RemoveAgent(ctx, user, "arya")) // it goes on from there
	<-kept.Done()
}

func TestRevocationByOneHubEndsCallsOfTheOther(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[1].Start(ctx)
	hubs[0].AddAgents("arya")
	me := hubs[1].callerWithToken(hubs[0].MakeToken("arya"))
	held := hubs[1].holdCall(me)
	hubs[0].NoError(hubs[0].RevokeToken(ctx, user, me.Token))
	<-held.Done()
	wantError(t, context.Cause(held), notKnown)
}

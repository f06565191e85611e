package hub_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

// tapped is a store that counts reads of the log, and calls a function after the next view.
type tapped struct {
	storage.Store
	reads atomic.Int64
	then  atomic.Pointer[func()]
}

func (s *tapped) View(ctx context.Context, fn func(storage.Tx) error) error {
	err := s.Store.View(ctx, func(tx storage.Tx) error { return fn(tappedTx{tx, s}) })
	if then := s.then.Swap(nil); then != nil {
		(*then)()
	}
	return err
}

type tappedTx struct {
	storage.Tx
	store *tapped
}

func (tx tappedTx) Log() storage.LogStore { return tappedLog{tx.Tx.Log(), tx.store} }

type tappedLog struct {
	storage.LogStore
	store *tapped
}

func (l tappedLog) Events(after int64, limit int) ([]parley.Event, error) {
	l.store.reads.Add(1)
	return l.LogStore.Events(after, limit)
}

// tap returns a fixture with a tapped store.
func tap(t tester, place string) (*fixture, *tapped) {
	t.Helper()
	tapped := &tapped{}
	return openFixture(t, place, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store {
			tapped.Store = hubtest.Diskless(s)
			return tapped
		}
	}), tapped
}

// subscribeFromNow subscribes to all later events, and reads once, so that the subscription is up to date.
func subscribeFromNow(t *testing.T, w *fixture, who string, kinds ...parley.EventKind) *hub.Subscription {
	t.Helper()
	sub := subscribe(t, w.Hub, as(who), w.LastEventNumber(), kinds...)
	same(t, "events before any", len(eventsNow(t, sub)), 0)
	return sub
}

// eventsNow returns the events of a subscription that are ready now.
func eventsNow(t *testing.T, sub *hub.Subscription) []parley.Event {
	t.Helper()
	sub.Nudge()
	list, _, err := sub.Next(ctx)
	if err != nil {
		t.Fatalf("events: %v", err)
	}
	return list
}

func kindsOf(list []parley.Event) []parley.EventKind {
	kinds := []parley.EventKind{}
	for _, e := range list {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestRemovedMembersGetNoQueuedEvents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	closed := w.CreatePrivateChannel("arya", "closed", "ned").ID
	ned, arya := subscribeFromNow(t, w, "ned"), subscribeFromNow(t, w, "arya")
	w.SayIn("arya", closed, "not for long")
	w.PassOn(ctx)
	w.NoError(w.RemoveMember(ctx, as("arya"), closed, "ned"))
	same(t, "who is out is told", kindsOf(eventsNow(t, ned)), []parley.EventKind{parley.EventMemberLeft})
	same(t, "who is in is told", kindsOf(eventsNow(t, arya)), []parley.EventKind{parley.EventMessagePosted})
	w.SayIn("arya", closed, "among us")
	w.PassOn(ctx)
	same(t, "then", len(eventsNow(t, ned)), 0)
}

func TestFormerOwnersGetNoQueuedEvents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("sansa", parley.AccessOwner)
	sansa := subscribeFromNow(t, w, "sansa")
	w.SendDM("arya", "ned", "between us")
	w.PassOn(ctx)
	w.setAccess("sansa", parley.AccessMember)
	w.PassOn(ctx)
	same(t, "is told", kindsOf(eventsNow(t, sansa)), []parley.EventKind{parley.EventAgentChanged})
	w.setAccess("sansa", parley.AccessOwner)
	w.PassOn(ctx)
	w.SendDM("arya", "ned", "and you")
	w.PassOn(ctx)
	same(t, "as an owner again", kindsOf(eventsNow(t, sansa)), []parley.EventKind{parley.EventAgentChanged, parley.EventMessagePosted})
}

// TestRightsLostDuringAViewAreNotUsed takes a role away after the view that has seen it, and before
// what the view leads to. More happens in between than the stream passes on at once.
func TestRightsLostDuringAViewAreNotUsed(t *testing.T) {
	t.Parallel()
	w, store := tap(t, stores.NewPlace(t))
	w.AddAgents("arya", "ned")
	w.AddPerson("sansa", parley.AccessOwner)
	closed := w.CreatePrivateChannel("user", "closed", "arya").ID
	other := subscribeFromNow(t, w, "arya") // the stream is where it is now
	sansa := subscribe(t, w.Hub, as("sansa"), w.LastEventNumber())
	demote := func() {
		for range 300 {
			w.SayIn("user", closed, "between us")
		}
		w.setAccess("sansa", parley.AccessMember)
	}
	store.then.Store(&demote)
	same(t, "in the view", len(eventsNow(t, sansa)), 0)
	same(t, "more than is passed on at once", w.PassOn(ctx), true)
	told := readUntil(t, w.Hub, sansa, w.LastEventNumber())
	same(t, "is told", kindsOf(told), []parley.EventKind{parley.EventAgentChanged})
	same(t, "others are told", len(eventsNow(t, other)) > 0, true)
}

func (w *fixture) setAccess(who string, access parley.Access) {
	w.T.Helper()
	_, err := w.ChangeAgent(ctx, user, who, func(a *parley.Agent) error {
		a.Access = access
		return nil
	})
	w.NoError(err)
}

// TestOnlyConcernedSubscribersAreWoken counts who gets up for a message between two.
func TestOnlyConcernedSubscribersAreWoken(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w, store := tap(t, place)
		w.AddAgents("arya", "ned", "bran")
		pair := w.SendDM("arya", "ned", "hi").Message.Conversation
		w.Start(ctx)
		var woken atomic.Int64
		wait, cancel := context.WithCancel(ctx)
		defer cancel()
		bran := subscribeFromNow(t, w, "bran")
		for _, who := range []string{"arya", "ned", "user", "bran", "bran"} {
			sub := subscribeFromNow(t, w, who)
			go func() {
				if _, _, err := sub.Next(wait); err == nil {
					woken.Add(1)
				}
			}()
		}
		synctest.Wait()
		before := store.reads.Load()
		last := w.SayIn("arya", pair, "hello").Message.Seq
		synctest.Wait()
		same(t, "woken", woken.Load(), int64(3))
		same(t, "times the log was read", store.reads.Load()-before, int64(1))
		bran.Nudge()
		list, upTo, err := bran.Next(ctx)
		w.NoError(err)
		same(t, "what it learns when it asks", []any{len(list), upTo}, []any{0, last})
		cancel()
		synctest.Wait()
	})
}

// TestTheLogIsNotReadWithoutSubscribers lets time pass in a hub nobody follows.
func TestTheLogIsNotReadWithoutSubscribers(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w, store := tap(t, place)
		w.Start(ctx)
		sub := subscribeFromNow(t, w, "user")
		time.Sleep(time.Minute)
		if store.reads.Load() < 20 {
			t.Errorf("the log was read %d times in a minute: another hub's events would come late", store.reads.Load())
		}
		sub.Close()
		synctest.Wait() // a read that began at this very moment is over
		before := store.reads.Load()
		w.AddAgents("arya")
		time.Sleep(time.Hour)
		same(t, "times the log was read", store.reads.Load()-before, int64(0))
	})
}

// TestFullQueueHoldsUpNobody has one that does not read while others do.
func TestFullQueueHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	closed := w.CreatePrivateChannel("user", "closed", "arya", "ned").ID
	slow, quick := subscribeFromNow(t, w, "ned", "message"), subscribeFromNow(t, w, "arya", "message")
	first := w.LastEventNumber()
	for i := range 600 {
		w.SayIn("user", closed, fmt.Sprint(i))
		w.PassOn(ctx)
		same(t, "quick", len(eventsNow(t, quick)), 1)
	}
	var got []parley.Event
	for list := eventsNow(t, slow); len(list) > 0; list = eventsNow(t, slow) {
		got = append(got, list...)
	}
	same(t, "slow", eventNumbers(got), numbersBetween(first+1, w.LastEventNumber()))
}

func TestFilterSelectsKindsAndOneConversation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	open := w.CreateChannel("arya", "open").ID
	first := w.LastEventNumber()
	w.SayIn("arya", "open", "@ned look")
	w.AddAgents("bran")
	w.SendEphemeralDM("ned", "arya", "yes")
	told := func(who string, f parley.EventFilter) []parley.EventKind {
		sub, err := w.Subscribe(ctx, as(who), first, f)
		w.NoError(err)
		defer sub.Close()
		return kindsOf(eventsNow(t, sub))
	}
	same(t, "one conversation by name", told("ned", parley.EventFilter{Conversation: "#open"}),
		[]parley.EventKind{parley.EventMemberJoined, parley.EventMessagePosted})
	same(t, "one by id", told("bran", parley.EventFilter{Conversation: open, Kinds: []parley.EventKind{"member"}}),
		[]parley.EventKind{parley.EventMemberJoined})
	same(t, "kinds", told("arya", parley.EventFilter{Kinds: []parley.EventKind{"agent", "message.posted"}}),
		[]parley.EventKind{parley.EventMessagePosted, parley.EventAgentAdded, parley.EventMessagePosted})
}

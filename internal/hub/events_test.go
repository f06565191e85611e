package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func newStartedHub(t *testing.T) *fixture {
	t.Helper()
	w := newHub(t)
	w.Start(ctx)
	return w
}

// subscribe follows events until the test ends.
func subscribe(t tester, h *hub.Hub, by hub.Caller, after int64, kinds ...parley.EventKind) *hub.Subscription {
	t.Helper()
	sub, err := h.Subscribe(ctx, by, after, parley.EventFilter{Kinds: kinds})
	if err != nil {
		t.Fatalf("subscribe after %d: %v", after, err)
	}
	t.Cleanup(sub.Close)
	return sub
}

// follow reads events up to the one with a number.
func follow(t tester, h *hub.Hub, by hub.Caller, after, until int64) []parley.Event {
	t.Helper()
	sub, err := h.Subscribe(ctx, by, after, parley.EventFilter{})
	if err != nil {
		t.Errorf("subscribe after %d: %v", after, err)
		return nil
	}
	defer sub.Close()
	return readUntil(t, h, sub, until)
}

// readUntil reads from a subscription up to the event with a number, or up to its place if the subscriber may not see that event.
func readUntil(t tester, h *hub.Hub, sub *hub.Subscription, until int64) (got []parley.Event) {
	t.Helper()
	for upTo := int64(-1); upTo < until; {
		if last, err := h.LastEvent(ctx, user); err == nil && last >= until {
			sub.Nudge() // the stream may not wake the subscription
		}
		list, next, err := sub.Next(ctx)
		if err != nil {
			t.Errorf("events after %d: %v", upTo, err)
			return got
		}
		if next < upTo || len(list) > 0 && list[0].Num <= upTo {
			t.Errorf("the log goes back: %d %v after %d", next, eventNumbers(list), upTo)
			return got
		}
		got, upTo = append(got, list...), next
	}
	return got
}

func eventNumbers(list []parley.Event) []int64 {
	all := []int64{}
	for _, e := range list {
		all = append(all, e.Num)
	}
	return all
}

func numbersBetween(first, last int64) []int64 {
	all := []int64{}
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}

// TestFollowersMissNothing has several followers, who begin at different places, while several post.
func TestFollowersMissNothing(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	open := w.CreateChannel("arya", "open", "ned").ID
	first := w.LastEventNumber()
	const posts = 120
	var wg sync.WaitGroup
	for i := range int64(4) {
		wg.Go(func() {
			got := eventNumbers(follow(t, w.Hub, user, first-i, first+posts))
			same(t, "numbers", got, numbersBetween(first-i+1, first+posts))
		})
	}
	drafts := make([]parley.Draft, posts)
	for i := range drafts {
		drafts[i] = parley.Draft{Conversation: open, Content: text(strconv.Itoa(i))}
	}
	postAtOnce(w, drafts, func(i int) string { return []string{"arya", "ned"}[i%2] })
	wg.Wait()
}

func TestEventsOfANewConversationComeInTheOrderTheyHappened(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	before := w.LastEventNumber()
	m := w.SendDM("arya", "ned", "hi").Message
	got := follow(t, w.Hub, as("ned"), before, w.LastEventNumber())
	same(t, "events", got, []parley.Event{
		{Num: before + 1, At: began, Kind: parley.EventConversationCreated, Conversation: m.Conversation, By: "arya"},
		{Num: before + 2, At: began, Kind: parley.EventMemberJoined, Conversation: m.Conversation, Agent: "arya", By: "arya"},
		{Num: before + 3, At: began, Kind: parley.EventMemberJoined, Conversation: m.Conversation, Agent: "ned", By: "arya"},
		{Num: m.Seq, At: began, Kind: parley.EventMessagePosted, Conversation: m.Conversation, Agent: "arya", By: "arya", Message: m.ID},
	})
}

// TestSlowFollowerCatchesUpFromTheStore lets more happen than is kept in memory for those who follow.
func TestSlowFollowerCatchesUpFromTheStore(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	var with []string
	for i := range 70 {
		with = append(with, fmt.Sprint("a", i))
	}
	w.AddAgents(with...)
	first := w.LastEventNumber()
	ended := make(chan []parley.Event, 1)
	stop := make(chan int64, 1)
	quick := subscribe(t, w.Hub, user, first)
	go func() {
		var got []parley.Event
		for until := int64(1 << 62); len(got) == 0 || got[len(got)-1].Num < until; {
			list, _, err := quick.Next(ctx)
			if err != nil {
				t.Errorf("events: %v", err)
				break
			}
			got = append(got, list...)
			select {
			case until = <-stop:
			default:
			}
		}
		ended <- got
	}()
	slow := subscribe(t, w.Hub, user, first)
	slow.Nudge()
	_, upTo, err := slow.Next(ctx) // it is live
	w.NoError(err)
	same(t, "nothing has come yet", upTo, first)
	for i := range 60 {
		w.CreateChannel("user", fmt.Sprint("c", i), with...)
	}
	last := w.LastEventNumber() + 2 // the end says so itself
	stop <- last
	w.CreateChannel("user", "end")
	if last != w.LastEventNumber() || last-first < 4200 {
		t.Fatalf("events from %d to %d", first, w.LastEventNumber())
	}
	same(t, "slow follower", eventNumbers(readUntil(t, w.Hub, slow, last)), numbersBetween(first+1, last))
	same(t, "quick follower", eventNumbers(<-ended), numbersBetween(first+1, last))
	same(t, "from the very beginning", eventNumbers(follow(t, w.Hub, user, 0, last)), numbersBetween(1, last))
}

func TestFollowerResumesAfterARestart(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	before := w.LastEventNumber()
	w.SayIn("arya", "open", "one")
	w.Restart()
	w.Start(ctx)
	w.SayIn("arya", "open", "two")
	last := w.LastEventNumber()
	same(t, "numbers", eventNumbers(follow(t, w.Hub, as("ned"), before, last)), numbersBetween(before+1, last))
}

func TestFollowerGoesOnAfterErasedEvents(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya")
	w.CreateChannel("arya", "open")
	last := w.SayIn("arya", "open", "gone").Message.Seq
	w.NoError(w.DeleteConversation(ctx, user, "open"))
	w.NoError(w.Sweep(ctx))
	w.Restart()
	w.Start(ctx)
	got := follow(t, w.Hub, user, last, w.LastEventNumber())
	same(t, "after the erased message", got[0].Kind, parley.EventMemberLeft)
	from := w.LastEventNumber()
	id := w.CreateChannel("arya", "new").ID
	same(t, "from the newest on", follow(t, w.Hub, as("arya"), from, from+1)[0].Conversation, id)
}

func TestEventNumberAheadOfTheLogIsRefused(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	last := w.LastEventNumber()
	gone := func(after int64) *parley.Error {
		return refusalError(parley.BadInput, parley.NotFound, fmt.Sprintf("the event log has the events 1 to %d, so the stream cannot continue from %d", last, after),
			fmt.Sprintf("read the current state, then follow from %d", last))
	}
	events := func(after int64) func() error {
		return func() error {
			_, err := w.Subscribe(ctx, user, after, parley.EventFilter{})
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"one ahead", events(last + 1), gone(last + 1)},
		{"far ahead", events(1 << 60), gone(1 << 60)},
		{"before the beginning", events(-1), gone(-1)},
	})
}

// TestFollowersAreWokenByAPost holds time still: whoever polled would never come back.
func TestFollowersAreWokenByAPost(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.Start(ctx)
		w.AddAgents("arya", "ned")
		open := w.CreateChannel("arya", "open", "ned").ID
		last := w.LastEventNumber()
		began := time.Now()
		woken := make(chan []parley.Event, 3)
		for range cap(woken) {
			go func() { woken <- follow(t, w.Hub, as("ned"), last, last+1) }()
		}
		synctest.Wait()
		same(t, "woken by nothing", len(woken), 0)
		id := w.SayIn("arya", open, "hi").Message.ID
		synctest.Wait()
		same(t, "woken", len(woken), cap(woken))
		for range cap(woken) {
			same(t, "by the message", (<-woken)[0].Message, id)
		}
		same(t, "time that has passed", time.Since(began), time.Duration(0))
	})
}

// TestFollowerAtTheEndDoesNotHideEventsFromOneBehind has a follower come right after a post, before
// the log's own reader has got to it: the hub is not even started.
func TestFollowerAtTheEndDoesNotHideEventsFromOneBehind(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.AddAgents("arya")
		first := w.LastEventNumber()
		got := map[string]chan []parley.Event{"first": make(chan []parley.Event, 9), "second": make(chan []parley.Event, 9)}
		listen := func(who string) {
			sub := subscribe(t, w.Hub, user, w.LastEventNumber())
			wait, cancel := context.WithCancel(ctx)
			t.Cleanup(cancel)
			go func() {
				for {
					list, _, err := sub.Next(wait)
					if err != nil {
						return
					}
					got[who] <- list
				}
			}()
			synctest.Wait()
		}
		listen("first")
		w.CreateChannel("arya", "open")
		last := w.LastEventNumber()
		listen("second")
		w.Start(ctx)
		synctest.Wait()
		same(t, "what the first is told", eventNumbers(<-got["first"]), numbersBetween(first+1, last))
		same(t, "what the second is told", len(got["second"]), 0)
	})
}

func TestFollowerGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	sub := subscribe(t, w.Hub, user, w.LastEventNumber())
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err := sub.Next(cancelled)
	if parley.CodeOf(err) != parley.TimedOut || !errors.Is(err, context.Canceled) {
		t.Errorf("events returned %v", err)
	}
}

func TestRemovalEndsAStream(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya")
	sub := subscribe(t, w.Hub, as("arya"), w.LastEventNumber(), "message.posted")
	ended := make(chan error, 1)
	go func() {
		_, _, err := sub.Next(ctx)
		ended <- err
	}()
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	wantError(t, <-ended, refusalError(parley.NotPermitted, "", "arya is not a participant of this hub", "ask an owner of this hub to add it"))
}

func TestEventsAreCutToTheCallersRights(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.AddPerson("sansa", parley.AccessMember)
	before := w.LastEventNumber()
	open := w.CreateChannel("arya", "open", "ned").ID
	closed := w.CreatePrivateChannel("arya", "closed", "ned").ID
	pair := w.SendDM("arya", "ned", "hi").Message.Conversation
	w.SayIn("arya", open, "hi")
	w.NoError(w.MarkRead(ctx, as("ned"), open, 0))
	w.NoError(w.MarkRead(ctx, as("ned"), pair, 0))
	gone := w.CreateChannel("arya", "gone", "ned").ID
	w.SayIn("arya", gone, "hi")
	w.NoError(w.MarkRead(ctx, as("ned"), gone, 0)) // even its own cursor is of a conversation that is gone
	w.NoError(w.DeleteConversation(ctx, user, gone))
	w.AddAgents("robb")
	last := w.LastEventNumber()
	seen := func(who string) (places []string, cursors int) {
		for _, e := range follow(t, w.Hub, as(who), before, last) {
			if e.Kind == parley.EventCursorMoved {
				cursors++
				same(t, "whose cursor", e.Agent, map[string]string{"ned": "ned", "user": "ned"}[who])
			}
			if !slices.Contains(places, e.Conversation) {
				places = append(places, e.Conversation)
			}
		}
		slices.Sort(places)
		return places, cursors
	}
	for who, want := range map[string]struct {
		places  []string
		cursors int
	}{
		// Of what is gone, its members are told that they are out of it, and nothing else.
		"arya": {[]string{"", open, closed, pair, gone}, 0}, "ned": {[]string{"", open, closed, pair, gone}, 2},
		"bran": {[]string{"", open}, 0}, "sansa": {[]string{"", open}, 0},
		"user": {[]string{"", open, closed, pair, gone}, 3},
	} {
		places, cursors := seen(who)
		slices.Sort(want.places)
		same(t, who+" sees", places, want.places)
		same(t, who+" sees cursors", cursors, want.cursors)
	}
}

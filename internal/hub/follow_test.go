package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// teller is a follower that passes all events on to a test.
type teller struct {
	events chan hub.Followed
	fail   func(batch []hub.Followed) error // called before the events are passed on; an error fails the batch
}

func newTeller() *teller { return &teller{events: make(chan hub.Followed, 10_000)} }

func (l *teller) Take(_ context.Context, batch []hub.Followed) error {
	if l.fail != nil {
		if err := l.fail(batch); err != nil {
			return err
		}
	}
	for _, f := range batch {
		l.events <- f
	}
	return nil
}

// upTo returns the events up to the one with a number.
func (l *teller) upTo(num int64) (list []hub.Followed) {
	for {
		f := <-l.events
		list = append(list, f)
		if f.Num >= num {
			return list
		}
	}
}

// startFollower starts a follower, and returns a function that stops it.
func startFollower(w *fixture, f hub.Follower) (stop func()) {
	s := w.Follow("test", f)
	s.Start(ctx)
	<-s.Started()
	w.T.Cleanup(s.Stop)
	return s.Stop
}

func postedTexts(list []hub.Followed) (words []string) {
	for _, f := range list {
		if f.Posted != nil {
			words = append(words, f.Posted.Content.Text)
		}
	}
	return words
}

// inOrder requires each number after the given one, once and in order.
func inOrder(t *testing.T, list []hub.Followed, after int64) {
	t.Helper()
	for i, f := range list {
		if f.Num != after+int64(i)+1 {
			t.Fatalf("event %d has number %d, want %d", i, f.Num, after+int64(i)+1)
		}
	}
}

func TestFollowerGetsEveryEventFromNowOn(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SendDM("arya", "ned", "before")
	begin, l := w.LastEventNumber(), newTeller()
	startFollower(w, l)
	posted := w.SendDM("ned", "arya", "after").Message
	w.AddAgents("jon")
	list := l.upTo(w.LastEventNumber())
	inOrder(t, list, begin)
	first := list[0]
	same(t, "the kind", first.Kind, parley.EventMessagePosted)
	same(t, "the message", *first.Posted, posted)
	same(t, "its deliveries", len(first.Deliveries), 1)
	same(t, "its recipient", first.Deliveries[0].Recipient, "arya")
	same(t, "messages", postedTexts(list), []string{"after"})
}

func TestFollowerGetsManyAndLargeMessagesInOrder(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })
	w.CreateChannel("user", "general")
	begin, l := w.LastEventNumber(), newTeller()
	stop := startFollower(w, l)
	stop()
	large := strings.Repeat("x", 200<<10)
	for i := range 60 {
		w.SayIn("user", "general", fmt.Sprint(i, " ", large))
	}
	inParallel(8, func(n int) {
		for i := range 40 {
			w.SayIn("user", "general", fmt.Sprint(n, " ", i))
		}
	})
	startFollower(w, l)
	list := l.upTo(w.LastEventNumber())
	inOrder(t, list, begin)
	words := postedTexts(list)
	same(t, "messages", len(words), 60+8*40)
	for i, f := range list {
		if f.Posted == nil || f.Posted.Seq != f.Num {
			t.Fatalf("event %d is not the message with its number", i)
		}
	}
}

func TestFollowerThatFailsGetsTheEventsAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "general")
	l, failures, first := newTeller(), 0, int64(0)
	l.fail = func(batch []hub.Followed) error {
		if first == 0 {
			first = batch[0].Num
		}
		if failures++; failures <= 2 {
			return errors.New("away")
		}
		return nil
	}
	begin := w.LastEventNumber()
	startFollower(w, l)
	w.SayIn("user", "general", "one")
	w.SayIn("user", "general", "two")
	list := l.upTo(w.LastEventNumber())
	inOrder(t, list, begin)
	same(t, "messages", postedTexts(list), []string{"one", "two"})
	same(t, "the first told", first, begin+1)
}

func TestFollowerGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "general")
	begin, l := w.LastEventNumber(), newTeller()
	stop := startFollower(w, l)
	w.SayIn("user", "general", "one")
	list := l.upTo(w.LastEventNumber())
	stop()
	w.SayIn("user", "general", "two")
	w.Restart()
	startFollower(w, l)
	w.SayIn("user", "general", "three")
	last := w.LastEventNumber()
	for list[len(list)-1].Num < last {
		list = append(list, <-l.events)
	}
	list = slices.CompactFunc(list, func(a, b hub.Followed) bool { return a.Num == b.Num }) // at least once
	inOrder(t, list, begin)
	same(t, "messages", postedTexts(list), []string{"one", "two", "three"})
}

func TestFollowerGetsNoDeletedMessagesAndNoRedactedWords(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	gone, kept := w.CreateChannel("user", "gone"), w.CreateChannel("user", "kept")
	l := newTeller()
	stop := startFollower(w, l)
	stop()
	w.SayIn("user", gone.ID, "deleted")
	secret := w.SayIn("user", kept.ID, "redacted")
	w.SayIn("user", kept.ID, "plain")
	w.NoError(w.DeleteConversation(ctx, user, gone.ID))
	_, err := w.Redact(ctx, user, secret.Message.ID, "a secret")
	w.NoError(err)
	startFollower(w, l)
	same(t, "messages", postedTexts(l.upTo(w.LastEventNumber())), []string{"", "plain"})
}

func TestTwoHubsFollowOneOrderTogether(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[0].CreateChannel("user", "general")
	begin, l := hubs[0].LastEventNumber(), newTeller()
	startFollower(hubs[0], l)
	startFollower(hubs[1], l)
	const each = 100
	var group sync.WaitGroup
	for _, w := range hubs {
		group.Go(func() {
			for i := range each {
				w.SayIn("user", "general", fmt.Sprint(i))
			}
		})
	}
	group.Wait()
	last, told := hubs[0].LastEventNumber(), map[int64]bool{}
	for int64(len(told)) < last-begin {
		told[(<-l.events).Num] = true
	}
	for num := begin + 1; num <= last; num++ {
		if !told[num] {
			t.Errorf("nobody was told of %d", num)
		}
	}
}

// TestFollowerIsWokenByAPost holds time still: whoever polled would never come back.
func TestFollowerIsWokenByAPost(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.CreateChannel("user", "general")
		l := newTeller()
		startFollower(w, l)
		began := time.Now()
		for i := range 3 {
			w.SayIn("user", "general", fmt.Sprint(i))
			same(t, "messages", postedTexts(l.upTo(w.LastEventNumber())), []string{fmt.Sprint(i)})
		}
		same(t, "time that has passed", time.Since(began), time.Duration(0))
	})
}

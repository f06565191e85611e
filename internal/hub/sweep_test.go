package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func TestEphemeralIsArchivedAfterADayWithoutOpenDelivery(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	first := w.SendEphemeralDM("arya", "ned", "?").Message
	conv := first.Conversation
	pair := w.SendDM("arya", "ned", "stays").Message.Conversation
	archived := func() bool {
		w.T.Helper()
		w.NoError(w.Sweep(ctx))
		return w.ConversationAs("arya", conv).ArchivedAt != nil
	}
	w.Clock.Advance(48 * time.Hour)
	same(t, "archived while a delivery is open", archived(), false)
	second := w.SayIn("arya", conv, "still there?").Message
	w.AckAs("ned", first.ID, second.ID)
	w.Clock.Advance(24*time.Hour - time.Millisecond)
	same(t, "archived before 24 hours", archived(), false)
	w.Clock.Advance(2 * time.Millisecond)
	before := w.LastEventNumber()
	same(t, "archived after 24 hours", archived(), true)
	same(t, "event", kindsAfter(w, before), []parley.EventKind{parley.EventConversationChanged})
	same(t, "a pair's DM is not ephemeral", w.ConversationAs("arya", pair).ArchivedAt, (*time.Time)(nil))
	same(t, "still readable", w.TextsIn("ned", conv), []string{"?", "still there?"})
	w.SayIn("ned", conv, "here")
	same(t, "archived after a new message", w.ConversationAs("arya", conv).ArchivedAt != nil, false)
	same(t, "and for another day", archived(), false)
	w.Clock.Advance(48 * time.Hour)
	same(t, "and while that has not been taken", archived(), false)
}

func TestConversationsAreArchivedWhenIdleOnlyIfConfigured(t *testing.T) {
	t.Parallel()
	const days = 7 * 24 * time.Hour
	for name, after := range map[string]time.Duration{"off": 0, "on": days} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t, func(w *fixture) { w.Config.AutoArchive = after })
			at := makeConversations(w)
			w.Clock.Advance(days)
			w.SayIn("arya", at["public channel"], "alive")
			w.Clock.Advance(time.Millisecond)
			before := w.storeSnapshot()
			w.NoError(w.Sweep(ctx))
			if after == 0 {
				same(t, "state", w.storeSnapshot(), before)
				return
			}
			want := []string{at["private channel"], at["named group"], at["dm"], at["group"]}
			got := w.ConversationIDs("arya", parley.ListFilter{Archived: true, Ephemeral: true})
			slices.Sort(got)
			slices.Sort(want)
			same(t, "archived", got, want)
			w.NoError(w.Archive(ctx, as("arya"), at["dm"], false))
			w.NoError(w.Sweep(ctx))
			same(t, "unarchiving by hand begins anew", w.ConversationAs("arya", at["dm"]).ArchivedAt, (*time.Time)(nil))
		})
	}
}

func TestSweepGoesThroughMoreThanOneBatch(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.AutoArchive = time.Hour })
	for i := range 201 {
		w.CreateChannel("user", fmt.Sprint("c", i))
	}
	w.Clock.Advance(time.Hour + time.Millisecond)
	w.NoError(w.Sweep(ctx))
	same(t, "left", len(w.ConversationIDs("user", parley.ListFilter{})), 0)
}

func TestSweepErasesOnlyDeletedConversations(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	w.SayIn("arya", at["dm"], "gone")
	w.TakeAs("ned", parley.Take{AtMostOnce: true}) // else its inbox would change
	w.NoError(w.DeleteConversation(ctx, user, at["dm"]))
	before, last := w.storeSnapshot(), w.LastEventNumber()
	same(t, "rows to erase before", erasable(w) > 0, true)
	w.NoError(w.Sweep(ctx))
	same(t, "rows to erase after", erasable(w), 0)
	same(t, "everything else", w.storeSnapshot(), before)
	same(t, "the order goes on", w.SendDM("arya", "ned", "anew").Message.Seq > last, true)
}

// erasable returns the number of rows that the next purge would erase. It erases none.
func erasable(w *fixture) (n int) {
	w.T.Helper()
	err := w.Store.Update(ctx, func(tx storage.Tx) (err error) {
		if n, err = tx.Conversations().Purge(1000); err != nil {
			return err
		}
		return errAgain
	})
	if !errors.Is(err, errAgain) {
		w.T.Fatalf("purge: %v", err)
	}
	return n
}

func TestSweepRunsByItself(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place, func(w *fixture) { w.Config.AutoArchive = time.Hour })
		conv := w.CreateChannel("user", "open").ID
		w.Clock.Advance(2 * time.Hour)
		w.Start(ctx)
		defer w.Stop()
		time.Sleep(time.Minute + time.Second) // in the time of the synctest bubble
		synctest.Wait()
		same(t, "archived", w.ConversationAs("user", conv).ArchivedAt != nil, true)
	})
}

func TestSweepGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.Sweep(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("sweep returned %v", err)
	}
}

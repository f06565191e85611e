package hub_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestFullInboxEvictsTheOldest(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newHub(t, logTo(&log))
	w.AddAgents("arya", "bran", "ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	oldest := w.SendDM("bran", "ned", "oldest").Message
	w.SendDM("bran", "ned", "second")
	before := w.LastEventNumber()
	w.Clock.Advance(time.Second)
	w.SendDM("bran", "ned", "third")

	same(t, "log", log.String(), fmt.Sprintf("level=WARN msg=%q\n", "Inbox overflow for ned (2 messages), evicted oldest: "+oldest.ID))
	same(t, "events", kindsAfter(w, before), []parley.EventKind{
		parley.EventMessagePosted, "delivery.evicted", parley.EventMessagePosted,
	})
	same(t, "left", w.PendingTexts("ned"), []string{"second", "third"})
	same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 2, Evicted: 1})
	sentence, hint := "the inbox of ned was full (2 messages), and this was the oldest message of bran, which had the most messages there", "send it again later; it can still be read in its conversation"
	d, now := w.DeliveryOf(oldest.ID, "ned"), w.Clock.Now()
	same(t, "evicted", []any{d.State, d.Failure, d.SettledAt}, []any{
		parley.DeliveryEvicted, refusalError(parley.Unavailable, "", sentence, hint), &now,
	})
	same(t, "its sender is told", textsOf(w.HubMessagesTo("bran")), []string{"Error: " + sentence + ". Hint: " + hint + "."})
	same(t, "nobody else is", len(w.HubMessagesTo("arya"))+len(w.HubMessagesTo("ned")), 0)
	same(t, "the message stays", w.TextsIn("ned", oldest.Conversation)[0], "oldest")
}

// TestOneSenderCannotEvictAnothersMail: a full inbox makes room at the cost of the sender that has the most in it.
func TestOneSenderCannotEvictAnothersMail(t *testing.T) {
	t.Parallel()
	for _, waking := range []bool{true, false} {
		t.Run(fmt.Sprint("waking ", waking), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "bran", "cersei", "ned")
			w.SetInboxDepth("ned", 10, parley.OverflowEvict)
			send := func(from, words string) {
				d := parley.Draft{Direct: []string{"ned"}, Content: text(words)}
				if !waking {
					d.Type = parley.TypeStatus
				}
				w.PostAs(from, d)
			}
			send("bran", "b1")
			send("arya", "a1")
			send("bran", "b2")
			for i := range 200 {
				send("cersei", fmt.Sprint("flood ", i))
			}
			var left []string
			for _, words := range w.PendingTexts("ned") {
				if words[0] != 'f' {
					left = append(left, words)
				}
			}
			same(t, "the mail of others", left, []string{"b1", "a1", "b2"})
			same(t, "the flood", w.PendingTexts("ned")[3:], []string{
				"flood 193", "flood 194", "flood 195", "flood 196", "flood 197", "flood 198", "flood 199",
			})
			same(t, "told", []int{len(w.HubMessagesTo("arya")), len(w.HubMessagesTo("bran"))}, []int{0, 0})
			send("arya", "a2")
			same(t, "who comes later finds room", w.PendingTexts("ned")[3:], []string{
				"flood 194", "flood 195", "flood 196", "flood 197", "flood 198", "flood 199", "a2",
			})
		})
	}
}

// TestAmongEqualSendersTheOldestMailIsEvicted also counts what pauses before another attempt.
func TestAmongEqualSendersTheOldestMailIsEvicted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "bran", "cersei", "ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	w.SendDM("arya", "ned", "a1")
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	w.SendDM("bran", "ned", "b1")
	w.SendDM("cersei", "ned", "c1")
	same(t, "left", w.PendingTexts("ned"), []string{"b1", "c1"})
}

func TestFullInboxMayRejectOrHaveNoBound(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.SetInboxDepth("ned", 2, parley.OverflowReject)
	w.SetInboxDepth("bran", 2, parley.OverflowUnbounded)
	for range 2 {
		w.SendDM("arya", "ned", "fits")
	}
	post := func() error {
		_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: text("too much")})
		return err
	}
	w.assertRefusals(t, []refusal{{"reject", post, inboxFull("ned", 2)}})
	first := w.TakeAs("ned", parley.Take{Limit: 1})
	w.assertRefusals(t, []refusal{{"what is taken counts until it is settled", post, inboxFull("ned", 2)}})
	w.AckAs("ned", first.Deliveries[0].Message)
	w.NoError(post())
	for range 5 {
		w.SendDM("arya", "bran", "fits")
	}
	same(t, "unbounded", w.InboxOf("bran"), parley.Inbox{Waking: 5})
	same(t, "told", len(w.HubMessagesTo("arya")), 0)
}

func inboxFull(id string, n int) *parley.Error {
	return refusalError(parley.Unavailable, "", fmt.Sprintf("the inbox of %s is full (%d messages)", id, n),
		"wait until it has handled some messages, or raise its inbox depth")
}

func TestTakenMessagesAreNeverEvicted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	w.SendDM("arya", "ned", "in a run")
	taken := w.TakeAs("ned", parley.Take{})
	w.SendDM("arya", "ned", "waits")
	w.SendDM("arya", "ned", "newest")
	same(t, "left", w.PendingTexts("ned"), []string{"in a run", "newest"})
	w.TakeAs("ned", parley.Take{})
	w.assertRefusals(t, []refusal{{"only what is in a run is left", func() error {
		_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: text("no room")})
		return err
	}, inboxFull("ned", 2)}})
	w.NackTaken("ned", taken, parley.FailureBusy)
	w.SendDM("arya", "ned", "evicts what pauses")
	same(t, "a pause is no run", w.DeliveryState(taken.Deliveries[0].Message, "ned"), parley.DeliveryEvicted)
}

func TestTheOldestIsEvictedEvenIfItPauses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	w.SendDM("arya", "ned", "older, pausing")
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	w.SendDM("arya", "ned", "younger")
	w.SendDM("arya", "ned", "newest")
	same(t, "left", w.PendingTexts("ned"), []string{"younger", "newest"})
}

func TestMessagesWithAPurposeTakeNoRoom(t *testing.T) {
	t.Parallel()
	for _, overflow := range []parley.Overflow{parley.OverflowEvict, parley.OverflowReject} {
		t.Run(string(overflow), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			w.SetInboxDepth("ned", 1, overflow)
			for range 2 {
				for _, purpose := range purposes {
					w.postForPurpose(purpose, "arya", "ned", string(purpose))
				}
			}
			w.SendDM("arya", "ned", "fits")
			for _, purpose := range purposes {
				w.postForPurpose(purpose, "arya", "ned", string(purpose))
			}
			same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 1, Work: 3 * len(purposes)})
			same(t, "open", len(w.PendingTexts("ned")), 3*len(purposes)+1)
			same(t, "told", len(w.HubMessagesTo("arya")), 0)
		})
	}
}

func TestNewMessagesEmptyAShrunkInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned")
	for i := range 20 {
		w.SendDM("user", "ned", fmt.Sprint(i))
	}
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	w.SendDM("user", "ned", "20")
	same(t, "at most so many at once", w.InboxOf("ned"), parley.Inbox{Waking: 5, Evicted: 16})
	w.SendDM("user", "ned", "21")
	same(t, "the rest with the next", w.PendingTexts("ned"), []string{"20", "21"})
}

func TestQuietMessagesHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	for _, overflow := range []parley.Overflow{parley.OverflowEvict, parley.OverflowReject} {
		t.Run(string(overflow), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			w.SetInboxDepth("ned", 2, overflow)
			w.SendDM("arya", "ned", "wakes")
			for i := range 3 {
				w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeStatus, Content: text(fmt.Sprint(i))})
			}
			w.SendDM("arya", "ned", "wakes too")
			same(t, "left", w.PendingTexts("ned"), []string{"wakes", "1", "2", "wakes too"})
			same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 2, Quiet: 2, Evicted: 1})
			same(t, "told", len(w.HubMessagesTo("arya")), 1)
		})
	}
}

func TestOnlyTheNewestHeartbeatOfASenderIsKept(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "bran", "ned")
	beat := func(from, words string) {
		t.Helper()
		w.PostAs(from, parley.Draft{Direct: []string{"ned"}, Type: parley.TypeHeartbeat, Content: text(words)})
	}
	beat("arya", "a1")
	beat("bran", "b1")
	beat("arya", "a2")
	beat("arya", "a3")
	same(t, "kept", w.PendingTexts("ned"), []string{"b1", "a3"})
	same(t, "inbox: replaced is not overflown", w.InboxOf("ned"), parley.Inbox{Quiet: 2})
	same(t, "nobody is told", len(w.HubMessagesTo("arya")), 0)
	w.TakeAs("ned", parley.Take{})
	beat("arya", "a4")
	same(t, "what was taken is not taken away", w.PendingTexts("ned"), []string{"b1", "a3", "a4"})
}

func TestInboxesOfPeopleHaveNoLimit(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPerson("sansa", parley.AccessMember)
	w.SetInboxDepth("sansa", 1, parley.OverflowReject)
	for range 3 {
		w.SendDM("user", "sansa", "hello")
		w.PostAs("user", parley.Draft{Direct: []string{"sansa"}, Type: parley.TypeStatus})
	}
	same(t, "inbox", w.InboxOf("sansa"), parley.Inbox{Waking: 3, Quiet: 3})
}

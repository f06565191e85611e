package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestEachStateOfADeliveryHasItsTime(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "do it").Message
	want := parley.Delivery{
		Message: m.ID, Seq: m.Seq, Conversation: m.Conversation, From: "arya", Recipient: "ned",
		State: parley.DeliveryAccepted, Waking: true, Priority: parley.DefaultPriority, PairSeq: 1, AcceptedAt: began,
	}
	step := func(state parley.DeliveryState, at **time.Time) {
		t.Helper()
		now := w.Clock.Now()
		want.State = state
		if at != nil {
			*at = &now
		}
		same(t, string(state), w.DeliveryOf(m.ID, "ned"), want)
	}
	step(parley.DeliveryAccepted, nil)
	before := w.LastEventNumber()

	w.Clock.Advance(time.Second)
	taken := w.TakeAs("ned", parley.Take{})
	want.Lease, want.Until, want.Node = taken.Lease, parley.Tick(w.Leases.Now()).After(time.Minute), "hub"
	step(parley.DeliveryDelivered, &want.DeliveredAt)
	same(t, "taken", taken, parley.Taken{
		Lease: taken.Lease, For: time.Minute, Attempts: 5, Deliveries: []parley.Delivery{want}, Messages: []parley.Message{m},
	})

	w.Clock.Advance(time.Second)
	want.Run = "run-1"
	seen := resultOf[[]parley.Delivery](w)(w.See(ctx, as("ned"), taken.Lease, "run-1"))
	step(parley.DeliverySeen, &want.SeenAt)
	same(t, "seen", seen, []parley.Delivery{want})

	w.Clock.Advance(time.Second)
	acked := resultOf[[]parley.Delivery](w)(w.Ack(ctx, as("ned"), taken.Lease, m.ID))
	want.Lease, want.Until, want.Node = "", 0, ""
	step(parley.DeliveryAcked, &want.SettledAt)
	same(t, "acked", acked, []parley.Delivery{want})

	w.Clock.Advance(time.Second)
	want.Answer = w.ReplyAs("ned", m.ID, "done").Message.ID
	step(parley.DeliveryAnswered, &want.AnsweredAt)
	same(t, "events", kindsAfter(w, before), []parley.EventKind{
		"delivery.delivered", "delivery.seen", "delivery.acked", parley.EventMessagePosted, "delivery.answered",
	})
}

func TestEventHasTheNewStateOfADelivery(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SendDM("arya", "ned", "first")
	m := w.SendDM("arya", "ned", "second").Message
	before := w.LastEventNumber()
	taken := w.TakeAs("ned", parley.Take{Only: []string{m.ID}, Seen: true, Run: "run-1"})
	w.NackTaken("ned", taken, parley.FailureBusy)
	list := eventsAfter(w, before)
	at := w.Clock.Now()
	same(t, "events", list, []parley.Event{
		{
			Num: before + 1, At: at, Kind: "delivery.seen", Conversation: m.Conversation, Agent: "ned", By: "ned", Message: m.ID,
			Data: fmt.Appendf(nil, `{"state":"seen","seq":%d,"pair_seq":2,"run":"run-1"}`, m.Seq),
		},
		{
			Num: before + 2, At: at, Kind: "delivery.accepted", Conversation: m.Conversation, Agent: "ned", By: "ned", Message: m.ID,
			Data: fmt.Appendf(nil, `{"state":"accepted","seq":%d,"pair_seq":2,"attempt":1,"failure":{"code":"E002",`+
				`"message":"ned did not do this: it is too busy","recoverable":true}}`, m.Seq),
		},
	})
}

func TestQuietMessagesAreTakenUnlessOnlyWakingOnesAreWanted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take parley.Take
		want []string
	}{
		"everything, by seq": {parley.Take{}, []string{"status", "low", "urgent", "last"}},
		"what wakes":         {parley.Take{Waking: true}, []string{"low", "urgent", "last"}},
		"by priority":        {parley.Take{Urgent: true}, []string{"urgent", "last", "low"}},
		"the first two":      {parley.Take{Limit: 2}, []string{"status", "low"}},
		"the most urgent":    {parley.Take{Limit: 1, Urgent: true}, []string{"urgent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeStatus, Content: text("status")})
			w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Priority: priority(w, "low"), Content: text("low")})
			w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Priority: priority(w, "urgent"), Content: text("urgent")})
			w.SendDM("arya", "ned", "last")
			same(t, "taken", w.TakeTexts("ned", c.take), c.want)
		})
	}
}

func priority(w *fixture, word string) parley.Priority {
	w.T.Helper()
	p, err := parley.ParsePriority(word)
	w.NoError(err)
	return p
}

func TestContextMarksQuietMessagesAsSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	status := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeStatus}).Message
	wakes := w.SendDM("arya", "ned", "wakes").Message
	other := w.PostAs("arya", parley.Draft{Direct: []string{"ned", "user"}, Type: parley.TypeStatus}).Message
	list := resultOf[[]parley.Message](w)(w.Context(ctx, as("ned"), status.Conversation))
	w.NoError(w.SeeContext(ctx, as("ned"), list, "run-1"))
	w.NoError(w.SeeContext(ctx, as("ned"), nil, "run-1"))
	got := w.DeliveryOf(status.ID, "ned")
	same(t, "included", []any{got.State, got.Run}, []any{parley.DeliverySeen, "run-1"})
	same(t, "what wakes must be taken", w.DeliveryState(wakes.ID, "ned"), parley.DeliveryAccepted)
	same(t, "in another conversation", w.DeliveryState(other.ID, "ned"), parley.DeliveryAccepted)
	same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 1, Quiet: 1})
}

func TestMessagesStayQueuedAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "when you are back").Message
	w.Clock.Advance(240 * time.Hour)
	w.Restart()
	w.SweepDueDeliveries()
	same(t, "state", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
	same(t, "taken", w.TakeTexts("ned", parley.Take{}), []string{"when you are back"})
}

func TestSenderMaySetTheSequence(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	count := func(from, to string, sequence int64) int64 {
		t.Helper()
		return w.PostAs(from, parley.Draft{Direct: []string{to}, Sequence: sequence}).Deliveries[0].PairSeq
	}
	gaps := func(call func()) (data []string) {
		t.Helper()
		before := w.LastEventNumber()
		call()
		for _, e := range eventsAfter(w, before) {
			if e.Kind == parley.EventSequenceGap {
				data = append(data, e.Agent+string(e.Data))
			}
		}
		return data
	}
	for _, c := range []struct {
		name      string
		from, to  string
		sequence  int64
		want      int64
		wantEvent []string
	}{
		{"the first", "arya", "ned", 0, 1, nil},
		{"the second", "arya", "ned", 0, 2, nil},
		{"another recipient", "arya", "bran", 0, 1, nil},
		{"another sender", "bran", "ned", 0, 1, nil},
		{"the sender counts itself", "arya", "ned", 3, 3, nil},
		{"a jump", "arya", "ned", 7, 7, []string{`ned{"expected":4,"got":7}`}},
		{"going on from there", "arya", "ned", 0, 8, nil},
		{"a count that repeats", "arya", "ned", 8, 8, []string{`ned{"expected":9,"got":8}`}},
		{"a sender that begins anew", "arya", "ned", 1, 1, nil},
		{"and goes on", "arya", "ned", 2, 2, nil},
		{"the largest there is", "ned", "arya", 1 << 53, 1 << 53, []string{`arya{"expected":1,"got":9007199254740992}`}},
		{"and on", "ned", "arya", 0, 1<<53 + 1, nil},
		{"a first that is not 1", "ned", "bran", 5, 5, []string{`bran{"expected":1,"got":5}`}},
	} {
		var got int64
		events := gaps(func() { got = count(c.from, c.to, c.sequence) })
		same(t, c.name, []any{got, events}, []any{c.want, c.wantEvent})
	}
	w.Restart()
	same(t, "after a restart", count("arya", "ned", 0), int64(3))
}

func TestDeletedConversationTakesItsDeliveriesAlong(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	doomed := w.SendEphemeralDM("arya", "ned", "doomed").Message
	held := w.SayIn("arya", doomed.Conversation, "held").Message
	w.PostAs("arya", parley.Draft{Conversation: doomed.Conversation, Type: parley.TypeStatus})
	taken := w.TakeAs("ned", parley.Take{Only: []string{held.ID}})
	w.SendDM("arya", "ned", "stays")
	w.NoError(w.DeleteConversation(ctx, user, doomed.Conversation))
	same(t, "what waits", w.PendingTexts("ned"), []string{"stays"})
	same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 1})
	w.NoError(w.SeeContext(ctx, as("ned"), []parley.Message{doomed}, "run-1"))
	_, err := w.Extend(ctx, as("ned"), taken.Lease, 0)
	wantError(t, err, leaseOver(taken.Lease))
	w.Clock.Advance(240 * time.Hour)
	w.AdvanceLeases(time.Hour)
	w.NoError(w.Sweep(ctx))
	same(t, "inbox after the purge", w.InboxOf("ned"), parley.Inbox{Waking: 1})
	same(t, "nobody is told of what was deleted", len(w.HubMessagesTo("arya")), 1)
}

func leaseOver(lease string) *parley.Error {
	return refusalError(parley.BadInput, parley.Conflict, "the lease "+lease+" has ended",
		"take messages again: those of the lease are back in the inbox, or another reader has them")
}

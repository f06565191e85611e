package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// retryState is the state of a delivery after a failed attempt.
type retryState struct {
	State   parley.DeliveryState
	Attempt int
	Lease   string
	Pause   time.Duration // from now on
}

func (w *fixture) retryState(message, recipient string) retryState {
	w.T.Helper()
	d := w.DeliveryOf(message, recipient)
	pause := time.Duration(0)
	if d.Until != 0 {
		pause = time.Duration(int64(d.Until)-w.Leases.Now()) * time.Millisecond
	}
	return retryState{d.State, d.Attempt, d.Lease, pause}
}

func TestLostLeaseReturnsItsMessagesAfterAPause(t *testing.T) {
	t.Parallel()
	for name, see := range map[string]bool{"delivered": false, "seen": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			m := w.SendDM("arya", "ned", "once more").Message
			taken := w.TakeAs("ned", parley.Take{Seen: see, Run: "run-1"})
			w.AdvanceLeases(time.Minute - time.Millisecond)
			same(t, "before 60 s", w.DeliveryOf(m.ID, "ned").Lease, taken.Lease)
			w.AdvanceLeases(time.Millisecond)
			same(t, "after 60 s", w.retryState(m.ID, "ned"), retryState{parley.DeliveryAccepted, 1, "", time.Second})
			d := w.DeliveryOf(m.ID, "ned")
			same(t, "nothing is left of the try", []any{d.DeliveredAt, d.SeenAt, d.Run}, []any{(*time.Time)(nil), (*time.Time)(nil), ""})
			same(t, "why", d.Failure, refusalError(parley.Unavailable, "", "ned did not do this: it took the message and neither answered nor acknowledged it", ""))
			same(t, "in the pause", w.TakeTexts("ned", parley.Take{}), []string{})
			w.AdvanceLeases(time.Second)
			same(t, "after the pause", w.TakeTexts("ned", parley.Take{}), []string{"once more"})
			same(t, "nobody is told of a try", len(w.HubMessagesTo("arya")), 0)
		})
	}
}

func TestExtendedLeaseLasts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "long work").Message
	taken := w.TakeAs("ned", parley.Take{Lease: 10 * time.Second})
	for _, c := range []struct {
		length, want time.Duration
	}{{0, time.Minute}, {time.Hour, time.Hour}, {time.Second, time.Second}} {
		list := resultOf[[]parley.Delivery](w)(w.Extend(ctx, as("ned"), taken.Lease, c.length))
		same(t, "still held", list[0].Message, m.ID)
		same(t, "lasts", w.retryState(m.ID, "ned"), retryState{parley.DeliveryDelivered, 0, taken.Lease, c.want})
		w.AdvanceLeases(c.want - time.Millisecond)
	}
	w.AdvanceLeases(time.Millisecond)
	same(t, "over", w.retryState(m.ID, "ned"), retryState{parley.DeliveryAccepted, 1, "", time.Second})
}

func TestWallClockMovesNoLease(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			first := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Priority: priority(w, "low"), Content: text("first")}).Message
			w.Clock.Advance(jump)
			w.SendDM("arya", "ned", "second")
			w.SweepDueDeliveries()
			same(t, "order", w.PendingTexts("ned"), []string{"first", "second"})
			taken := w.TakeAs("ned", parley.Take{Limit: 1})
			w.Clock.Advance(jump)
			w.SweepDueDeliveries()
			same(t, "lease", w.retryState(first.ID, "ned"), retryState{parley.DeliveryDelivered, 0, taken.Lease, time.Minute})
			w.Clock.Advance(-2 * jump)
			w.AdvanceLeases(time.Minute)
			same(t, "its end", w.retryState(first.ID, "ned"), retryState{parley.DeliveryAccepted, 1, "", time.Second})
		})
	}
}

func TestPauseGrowsByTheKindOfFailure(t *testing.T) {
	t.Parallel()
	for failure, want := range map[parley.Failure][]time.Duration{
		parley.FailureLost:    {time.Second, 2 * time.Second, 4 * time.Second},
		parley.FailureBusy:    {5 * time.Second, 10 * time.Second, 20 * time.Second},
		parley.FailureServer:  {2 * time.Second, 4 * time.Second, 8 * time.Second},
		parley.FailureNoStart: {5 * time.Second, 10 * time.Second, 20 * time.Second},
	} {
		t.Run(string(failure), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			m := w.SendDM("arya", "ned", "try").Message
			for i, pause := range want {
				w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), failure)
				same(t, fmt.Sprint("after try ", i+1), w.retryState(m.ID, "ned"), retryState{parley.DeliveryAccepted, i + 1, "", pause})
				w.AdvanceLeases(pause)
			}
			taken := w.TakeAs("ned", parley.Take{})
			_, err := w.Nack(ctx, as("ned"), taken.Lease, parley.Trouble{Failure: failure, After: time.Hour}, m.ID)
			w.NoError(err)
			same(t, "not before", w.retryState(m.ID, "ned"), retryState{parley.DeliveryAccepted, 4, "", time.Hour})
		})
	}
}

func TestLastAttemptMakesADeadLetter(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{5, 1} {
		t.Run(fmt.Sprint(attempts), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = attempts })
			m := w.SendDM("arya", "ned", "hopeless").Message
			for range attempts {
				same(t, "told before the end", len(w.HubMessagesTo("arya")), 0)
				w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureServer)
				w.AdvanceLeases(time.Hour)
			}
			sentence := "ned did not do this: a service that it needs failed"
			if attempts > 1 {
				sentence += fmt.Sprintf(" (%d attempts)", attempts)
			}
			hint := "an owner can retry or drop it: parley dead list"
			d := w.DeliveryOf(m.ID, "ned")
			same(t, "dead", []any{d.State, d.Attempt, d.Failure, d.Lease, d.SettledAt}, []any{
				parley.DeliveryDead, attempts, refusalError(parley.DependencyFailed, "", sentence, hint), "", (*time.Time)(nil),
			})
			same(t, "told", textsOf(w.HubMessagesTo("arya")), []string{"Error: " + sentence + ". Hint: " + hint + "."})
			same(t, "inbox", w.InboxOf("ned"), parley.Inbox{})
			same(t, "dead letters", resultOf[[]parley.Delivery](w)(w.DeadLetters(ctx, user, 0, 0)), []parley.Delivery{d})
			same(t, "after it", resultOf[[]parley.Delivery](w)(w.DeadLetters(ctx, user, d.Seq, 0)), []parley.Delivery{})
		})
	}
}

func TestDeadLetterIsRetriedWithAllItsAttempts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 2 })
	m := w.SendDM("arya", "ned", "try harder").Message
	die := func() {
		t.Helper()
		for range 2 {
			w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
			w.AdvanceLeases(time.Hour)
		}
		same(t, "dead", w.retryState(m.ID, "ned"), retryState{State: parley.DeliveryDead, Attempt: 2})
	}
	die()
	audits := len(w.AuditEntries())
	for _, recipient := range []string{"", "NED"} {
		retried := resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, m.ID, recipient))
		same(t, "retried", retried, w.DeliveryOf(m.ID, "ned"))
		same(t, "at once, from the start", w.retryState(m.ID, "ned"), retryState{State: parley.DeliveryAccepted})
		die()
	}
	entry := w.AuditEntries()[audits]
	same(t, "audited", []any{entry.Actor, entry.Act, entry.Subject, string(entry.Detail)},
		[]any{"user", "delivery.retry", m.ID, `{"recipient":"ned"}`})
	same(t, "told each time it died", len(w.HubMessagesTo("arya")), 3)

	before := len(w.HubMessagesTo("arya"))
	dropped := resultOf[parley.Delivery](w)(w.DropDead(ctx, user, m.ID, "ned"))
	same(t, "dropped", []any{dropped.State, dropped.SettledAt != nil}, []any{parley.DeliveryDropped, true})
	entry = w.AuditEntries()[len(w.AuditEntries())-1]
	same(t, "audited", []any{entry.Act, entry.Subject}, []any{"delivery.drop", m.ID})
	same(t, "told", textsOf(w.HubMessagesTo("arya"))[before:], []string{
		"Error: user dropped this message for ned. Hint: send it again, or write to another participant.",
	})
	same(t, "dead letters", resultOf[[]parley.Delivery](w)(w.DeadLetters(ctx, user, 0, 0)), []parley.Delivery{})
}

func TestAskIsAttemptedOnce(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fixture, parley.Taken){
		"lease lost": func(w *fixture, _ parley.Taken) { w.AdvanceLeases(time.Minute) },
		"busy":       func(w *fixture, taken parley.Taken) { w.NackTaken("ned", taken, parley.FailureBusy) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			ask := w.postForPurpose(parley.PurposeAsk, "arya", "ned", "well?")
			lose(w, w.TakeAs("ned", parley.Take{}))
			same(t, "failed", w.retryState(ask.ID, "ned"), retryState{State: parley.DeliveryFailed, Attempt: 1})
			same(t, "told", len(w.HubMessagesTo("arya")), 1)
		})
	}
}

func TestFailureThatIsFinal(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "divide by zero").Message
	taken := w.TakeAs("ned", parley.Take{})
	list := resultOf[[]parley.Delivery](w)(w.Nack(ctx, as("ned"), taken.Lease, parley.Trouble{Reason: "no\x00 such \xffnumber"}, m.ID))
	failure := refusalError(parley.DependencyFailed, "", "ned did not do this: no such number", "")
	same(t, "failed", []any{list[0].State, list[0].Failure}, []any{parley.DeliveryFailed, failure})
	same(t, "stored", w.DeliveryOf(m.ID, "ned"), list[0])
	told := w.HubMessagesTo("arya")
	same(t, "told", textsOf(told), []string{"Error: ned did not do this: no such number."})
	same(t, "where, about what", []any{told[0].Conversation, told[0].InReplyTo, told[0].Type, told[0].TraceID},
		[]any{m.Conversation, m.ID, parley.TypeError, m.TraceID})
	same(t, "for programs", string(told[0].Payload), `{"error":{"code":"E005","message":"ned did not do this: no such number",`+
		`"recoverable":true},"message":"`+m.ID+`","recipient":"ned","state":"failed","final":true}`)
}

func TestStaleLeaseIsWorthNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	m := w.SendDM("arya", "ned", "whose?").Message
	other := w.SendDM("arya", "bran", "not yours").Message
	stale := w.TakeAs("ned", parley.Take{}).Lease
	bran := w.TakeAs("bran", parley.Take{}).Lease
	w.AdvanceLeases(time.Minute)
	w.AdvanceLeases(time.Second)
	holder := w.TakeAs("ned", parley.Take{}).Lease
	bran2 := w.TakeAs("bran", parley.Take{}).Lease
	lost := parley.Trouble{Failure: parley.FailureLost}
	notHeld := func(m parley.Message) *parley.Error {
		return refusalError(parley.BadInput, parley.Conflict, "the lease does not hold message "+m.ShortName()+"", "name the lease that holds the message")
	}
	w.assertRefusals(t, []refusal{
		{"ack", func() error { _, err := w.Ack(ctx, as("ned"), stale, m.ID); return err }, leaseOver(stale)},
		{"nack", func() error { _, err := w.Nack(ctx, as("ned"), stale, lost, m.ID); return err }, leaseOver(stale)},
		{"extend", func() error { _, err := w.Extend(ctx, as("ned"), stale, 0); return err }, leaseOver(stale)},
		{"see", func() error { _, err := w.See(ctx, as("ned"), stale, ""); return err }, leaseOver(stale)},
		{"settle", func() error { _, err := w.Settle(ctx, as("ned"), stale, parley.Outcome{}); return err }, leaseOver(stale)},
		{"another's lease", func() error { _, err := w.Settle(ctx, as("ned"), bran2, parley.Outcome{}); return err }, leaseOver(bran2)},
		{"no lease at all", func() error { _, err := w.Extend(ctx, as("ned"), "x", 0); return err }, leaseOver("x")},
		{"giving back without a lease", func() error { _, err := w.Nack(ctx, as("ned"), "", lost, m.ID); return err }, notHeld(m)},
		{"another's message", func() error { _, err := w.Ack(ctx, as("ned"), bran, other.ID); return err }, notFoundError("message", other.ID, checkName)},
	})
	same(t, "the holder can", len(resultOf[[]parley.Delivery](w)(w.Settle(ctx, as("ned"), holder, parley.Outcome{}))), 1)
}

func TestStaleLeaseMayAckReturnedMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "done, but late").Message
	lease := w.TakeAs("ned", parley.Take{}).Lease
	w.AdvanceLeases(time.Minute)
	same(t, "back", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
	_, err := w.Ack(ctx, as("ned"), lease, m.ID)
	w.NoError(err)
	w.AdvanceLeases(time.Hour)
	same(t, "acked", w.retryState(m.ID, "ned"), retryState{State: parley.DeliveryAcked, Attempt: 1})
}

func TestRemovalOfARecipientFailsItsOpenDeliveries(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	first := w.SendDM("arya", "ned", "held").Message
	held := w.TakeAs("ned", parley.Take{})
	second := w.SendDM("arya", "ned", "pausing").Message
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	third := w.SendDM("bran", "ned", "waiting").Message
	quiet := w.PostAs("bran", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeStatus}).Message
	done := w.SendDM("bran", "ned", "done").Message
	w.AckAs("ned", done.ID)
	own := w.SendDM("ned", "bran", "from it").Message
	w.NoError(w.RemoveAgent(ctx, user, "ned"))
	for _, m := range []parley.Message{first, second, third, quiet} {
		d := w.DeliveryOf(m.ID, "ned")
		same(t, "failed", []any{d.State, d.Failure, d.Lease}, []any{
			parley.DeliveryFailed, refusalError(parley.Unavailable, parley.Gone, "ned was removed", "write to another participant"), "",
		})
	}
	same(t, "settled before", w.DeliveryState(done.ID, "ned"), parley.DeliveryAcked)
	same(t, "what it sent", w.DeliveryState(own.ID, "bran"), parley.DeliveryAccepted)
	same(t, "senders told", []int{len(w.HubMessagesTo("arya")), len(w.HubMessagesTo("bran")), len(w.HubMessagesTo("ned"))}, []int{2, 2, 0})
	same(t, "its inbox", w.inboxInStore("ned"), parley.Inbox{})
	_, err := w.Extend(ctx, as("ned"), held.Lease, 0)
	same(t, "it can do nothing more", parley.CodeOf(err), parley.NotPermitted)
	before := w.storeSnapshot()
	w.NoError(w.Sweep(ctx))
	same(t, "a sweep finds nothing to do", w.storeSnapshot(), before)
}

// inboxInStore reads an inbox from the store. Use it for an agent that was removed.
func (w *fixture) inboxInStore(who string) (inbox parley.Inbox) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		inbox, err = tx.Queue().Inbox(who)
		return err
	}))
	return inbox
}

func TestRemovalOfAnAgentWithMoreThanOneBatch(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned")
	w.SetInboxDepth("ned", 1000, parley.OverflowEvict)
	for range 203 {
		w.SendDM("user", "ned", "hello")
	}
	w.NoError(w.RemoveAgent(ctx, user, "ned"))
	same(t, "told", len(w.HubMessagesTo("user")), 203)
	same(t, "inbox", w.inboxInStore("ned"), parley.Inbox{})
}

package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestReplyAnswersFromWhereverTheDeliveryStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*fixture, parley.Message)
		want   parley.DeliveryState
	}{
		"accepted":  {func(*fixture, parley.Message) {}, parley.DeliveryAnswered},
		"delivered": {func(w *fixture, _ parley.Message) { w.TakeAs("ned", parley.Take{}) }, parley.DeliveryAnswered},
		"seen":      {func(w *fixture, _ parley.Message) { w.TakeAs("ned", parley.Take{Seen: true}) }, parley.DeliveryAnswered},
		"pausing": {func(w *fixture, _ parley.Message) {
			w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
		}, parley.DeliveryAnswered},
		"acked": {func(w *fixture, m parley.Message) { w.AckAs("ned", m.ID) }, parley.DeliveryAnswered},
		"failed": {func(w *fixture, _ parley.Message) {
			w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureFinal)
		}, parley.DeliveryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			m := w.SendDM("arya", "ned", "?").Message
			c.before(w, m)
			answer := w.ReplyAs("ned", m.ID, "!").Message.ID
			d := w.DeliveryOf(m.ID, "ned")
			same(t, "state", d.State, c.want)
			if c.want != parley.DeliveryAnswered {
				answer = ""
			}
			same(t, "answer, lease", []any{d.Answer, d.Lease, d.Until}, []any{answer, "", parley.Tick(0)})
			same(t, "each step has its time", d.DeliveredAt != nil && d.SeenAt != nil && d.SettledAt != nil && d.AnsweredAt != nil, answer != "")
			same(t, "inbox", w.InboxOf("ned"), parley.Inbox{})
			first := w.DeliveryOf(m.ID, "ned")
			w.ReplyAs("ned", m.ID, "and another thing")
			same(t, "the first answer stands", w.DeliveryOf(m.ID, "ned"), first)
		})
	}
}

func TestOnlyTheRecipientsReplyAnswers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned", "bran")
	m := w.SayIn("arya", "open", "@ned?").Message
	w.ReplyAs("arya", m.ID, "well?")
	w.ReplyAs("bran", m.ID, "I know")
	same(t, "state", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
}

func TestOneAnswerAnswersAllOfALease(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "bran", "ned")
	first, second, own := w.SendDM("arya", "ned", "1").Message, w.SendDM("bran", "ned", "2").Message, w.SendDM("bran", "ned", "3").Message
	taken := w.TakeAs("ned", parley.Take{Seen: true})
	later := w.SendDM("arya", "ned", "4").Message
	w.AckAs("ned", own.ID)
	answer := w.ReplyAs("ned", first.ID, "both done").Message
	list := resultOf[[]parley.Delivery](w)(w.Settle(ctx, as("ned"), taken.Lease, parley.Outcome{Answer: answer.ID}))
	same(t, "settled", []any{len(list), list[0].Message}, []any{1, second.ID})
	for _, m := range []parley.Message{first, second} {
		d := w.DeliveryOf(m.ID, "ned")
		same(t, "answered", []any{d.State, d.Answer}, []any{parley.DeliveryAnswered, answer.ID})
	}
	same(t, "settled before", w.DeliveryState(own.ID, "ned"), parley.DeliveryAcked)
	same(t, "not in the lease", w.DeliveryState(later.ID, "ned"), parley.DeliveryAccepted)
}

func TestEndOfATurnSettlesItsMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how    parley.Outcome
		want   retryState
		errors int
	}{
		"well":        {parley.Outcome{}, retryState{State: parley.DeliveryAcked}, 0},
		"transiently": {parley.Outcome{Trouble: &parley.Trouble{Failure: parley.FailureBusy}}, retryState{parley.DeliveryAccepted, 1, "", 5 * time.Second}, 0},
		"for good":    {parley.Outcome{Trouble: &parley.Trouble{}}, retryState{State: parley.DeliveryFailed, Attempt: 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			first, second := w.SendDM("arya", "ned", "1").Message, w.SendDM("arya", "ned", "2").Message
			taken := w.TakeAs("ned", parley.Take{})
			_, err := w.Settle(ctx, as("ned"), taken.Lease, c.how)
			w.NoError(err)
			same(t, "first", w.retryState(first.ID, "ned"), c.want)
			same(t, "second", w.retryState(second.ID, "ned"), c.want)
			same(t, "told", len(w.HubMessagesTo("arya")), c.errors)
		})
	}
}

func TestAckNeedsNoLeaseAndIsDoneOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	untaken, held := w.SendDM("arya", "ned", "untaken").Message, w.SendDM("arya", "ned", "held").Message
	w.TakeAs("ned", parley.Take{Only: []string{held.ID}})
	w.AckAs("ned", untaken.ID, held.ID)
	d, now := w.DeliveryOf(untaken.ID, "ned"), w.Clock.Now()
	same(t, "acknowledged is seen", []any{d.State, d.DeliveredAt, d.SeenAt, d.SettledAt}, []any{parley.DeliveryAcked, &now, &now, &now})
	same(t, "held", w.DeliveryState(held.ID, "ned"), parley.DeliveryAcked)
	before := w.storeSnapshot()
	w.Clock.Advance(time.Second)
	w.AckAs("ned", untaken.ID, untaken.ID)
	same(t, "again", w.storeSnapshot(), before)
}

func TestEndedDeliveriesCannotBeAcked(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 1 })
	dead, failed := w.SendDM("arya", "ned", "dead").Message, w.SendDM("arya", "ned", "failed").Message
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{Only: []string{dead.ID}}), parley.FailureBusy)
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureFinal)
	waits := w.SendDM("arya", "ned", "waits").Message
	ack := func(ids ...string) func() error {
		return func() error { _, err := w.Ack(ctx, as("ned"), "", ids...); return err }
	}
	w.assertRefusals(t, []refusal{
		{"dead", ack(dead.ID), wrongStep(dead, "dead", "acked")},
		{"failed", ack(failed.ID), wrongStep(failed, "failed", "acked")},
		{"all or nothing", ack(waits.ID, failed.ID), wrongStep(failed, "failed", "acked")},
		{"giving back what nobody has", func() error {
			_, err := w.Nack(ctx, as("ned"), noRoom, parley.Trouble{}, waits.ID)
			return err
		}, wrongStep(waits, "accepted", "accepted")},
	})
}

func wrongStep(m parley.Message, is, to string) *parley.Error {
	return refusalError(parley.BadInput, parley.Conflict, "message "+m.ShortName()+" for ned is "+is+" and cannot become "+to, "see its state: parley trace "+m.ShortName())
}

func TestPeopleHoldNoLeaseAndSeeByReading(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddPerson("sansa", parley.AccessMember)
	first := w.SendDM("arya", "sansa", "first").Message
	taken := w.TakeAs("sansa", parley.Take{})
	same(t, "fetched", []any{taken.Lease, w.DeliveryState(first.ID, "sansa")}, []any{"", parley.DeliveryDelivered})
	w.AdvanceLeases(240 * time.Hour)
	w.Restart()
	w.SweepDueDeliveries()
	same(t, "it stays with them", w.retryState(first.ID, "sansa"), retryState{State: parley.DeliveryDelivered})
	second, third := w.SendDM("arya", "sansa", "second").Message, w.SendDM("arya", "sansa", "third").Message
	w.NoError(w.MarkRead(ctx, as("sansa"), first.Conversation, second.Seq))
	same(t, "read", []parley.DeliveryState{w.DeliveryState(first.ID, "sansa"), w.DeliveryState(second.ID, "sansa"), w.DeliveryState(third.ID, "sansa")},
		[]parley.DeliveryState{parley.DeliverySeen, parley.DeliverySeen, parley.DeliveryAccepted})
	same(t, "inbox", w.InboxOf("sansa"), parley.Inbox{Waking: 1})
	w.ReplyAs("sansa", first.ID, "yes")
	w.AckAs("sansa", second.ID)
	same(t, "settled", []parley.DeliveryState{w.DeliveryState(first.ID, "sansa"), w.DeliveryState(second.ID, "sansa")},
		[]parley.DeliveryState{parley.DeliveryAnswered, parley.DeliveryAcked})
	w.TakeAs("sansa", parley.Take{})
	w.assertRefusals(t, []refusal{{"they give nothing back", func() error {
		_, err := w.Nack(ctx, as("sansa"), "", parley.Trouble{Failure: parley.FailureBusy}, third.ID)
		return err
	}, refusalError(parley.BadInput, parley.Conflict, "the lease does not hold message "+third.ShortName()+"", "name the lease that holds the message")}})
}

func TestReadingMakesNothingSeenForAnAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "?").Message
	w.NoError(w.MarkRead(ctx, as("ned"), m.Conversation, 0))
	same(t, "state", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
}

// An update that passes everything at once would hold up everybody else for as long.
func TestReadingMuchIsDoneInSmallUpdates(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPerson("sansa", parley.AccessMember)
	var last parley.Message
	for range 501 {
		last = w.SendDM("user", "sansa", "hello").Message
	}
	before := w.LastEventNumber()
	w.NoError(w.MarkRead(ctx, as("sansa"), last.Conversation, 0))
	same(t, "inbox", w.InboxOf("sansa"), parley.Inbox{})
	same(t, "cursor", w.ConversationAs("sansa", last.Conversation).ReadSeq, last.Seq)
	var steps []int // how many were seen with each step of the cursor
	for _, kind := range kindsAfter(w, before) {
		if kind == parley.EventCursorMoved {
			steps = append(steps, 0)
		} else {
			steps[len(steps)-1]++
		}
	}
	same(t, "steps", steps, []int{200, 200, 101})
}

package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

const (
	expiredText = "Error: the message expired before ned took it. Hint: send it again with a longer ttl, or without one."
	overdueHint = "the message stays in its inbox; check whether the recipient is running"
)

func TestMessageExpiresWhileItWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		notice func(*fixture)
	}{
		"found by a sweep":           {(*fixture).SweepDueDeliveries},
		"found before it, by a take": {func(w *fixture) { same(w.T, "taken", w.TakeTexts("ned", parley.Take{Limit: 1}), []string{"stays"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TTL: 60, Content: text("hurry")}).Message
			w.SendDM("arya", "ned", "stays")
			w.Clock.Advance(time.Minute - time.Millisecond)
			w.SweepDueDeliveries()
			same(t, "before", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
			w.Clock.Advance(time.Millisecond)
			before := w.LastEventNumber()
			c.notice(w)
			same(t, "event", kindsAfter(w, before)[:2], []parley.EventKind{"delivery.expired", parley.EventMessagePosted})
			d, now := w.DeliveryOf(m.ID, "ned"), w.Clock.Now()
			same(t, "expired", []any{d.State, d.SettledAt, d.Failure.Code}, []any{parley.DeliveryExpired, &now, parley.TimedOut})
			same(t, "told", textsOf(w.HubMessagesTo("arya")), []string{expiredText})
			w.SweepDueDeliveries()
			same(t, "once", len(w.HubMessagesTo("arya")), 1)
			same(t, "inbox", w.InboxOf("ned"), parley.Inbox{Waking: 1})
		})
	}
}

func TestTakeReturnsNoExpiredMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for range 3 {
		w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TTL: 1})
	}
	w.Clock.Advance(time.Second)
	same(t, "taken", w.TakeAs("ned", parley.Take{Limit: 1}), parley.Taken{})
	same(t, "told", len(w.HubMessagesTo("arya")), 3)
}

func TestTakenMessagesExpireOnlyOnceReturned(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TTL: 60}).Message
	taken := w.TakeAs("ned", parley.Take{})
	w.Clock.Advance(time.Hour)
	w.SweepDueDeliveries()
	same(t, "in a run", w.DeliveryState(m.ID, "ned"), parley.DeliveryDelivered)
	w.NackTaken("ned", taken, parley.FailureBusy)
	w.SweepDueDeliveries()
	same(t, "in the pause", w.DeliveryState(m.ID, "ned"), parley.DeliveryExpired)
}

func TestUnseenInItsPrioritysTimeIsOverdueOnce(t *testing.T) {
	t.Parallel()
	for word, c := range map[string]struct {
		after time.Duration
		words string
	}{
		"critical": {5 * time.Second, "5 s"},
		"high":     {5 * time.Minute, "5 min"},
		"normal":   {30 * time.Minute, "30 min"},
		"low":      {24 * time.Hour, "24 h"},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned", "bran")
			draft := func(to string) parley.Message {
				return w.PostAs("arya", parley.Draft{Direct: []string{to}, Priority: priority(w, word)}).Message
			}
			m, fetched, seen := draft("ned"), draft("bran"), draft("bran")
			w.TakeAs("bran", parley.Take{Only: []string{fetched.ID}})
			w.TakeAs("bran", parley.Take{Only: []string{seen.ID}, Seen: true})
			w.Clock.Advance(c.after - time.Millisecond)
			before := w.LastEventNumber()
			w.SweepDueDeliveries()
			same(t, "before", kindsAfter(w, before), []parley.EventKind{})
			w.Clock.Advance(time.Millisecond)
			w.SweepDueDeliveries()
			same(t, "events", kindsAfter(w, before), []parley.EventKind{
				parley.EventOverdue, parley.EventMessagePosted, parley.EventOverdue, parley.EventMessagePosted,
			})
			same(t, "marked", []bool{w.DeliveryOf(m.ID, "ned").Overdue, w.DeliveryOf(fetched.ID, "bran").Overdue, w.DeliveryOf(seen.ID, "bran").Overdue},
				[]bool{true, true, false})
			same(t, "told", w.HubMessagesTo("arya")[0].Content.Text, "Error: ned has not seen this for "+c.words+". Hint: "+overdueHint+".")
			w.Clock.Advance(240 * time.Hour)
			w.SweepDueDeliveries()
			same(t, "once", len(w.HubMessagesTo("arya")), 2)
			same(t, "still there", len(w.TakeTexts("ned", parley.Take{})), 1)
		})
	}
}

func TestQuietMessagesAreNeverOverdue(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeNotification, Priority: priority(w, "critical")})
	w.Clock.Advance(240 * time.Hour)
	before := w.storeSnapshot()
	w.SweepDueDeliveries()
	same(t, "state", w.storeSnapshot(), before)
}

func TestOverdueErrorSaysThatTheAgentSleeps(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	_, err := w.Sleep(ctx, as("ned"), "ned", began.Add(time.Hour))
	w.NoError(err)
	w.SendDM("arya", "ned", "wake up")
	w.Clock.Advance(30 * time.Minute)
	w.SweepDueDeliveries()
	same(t, "told", textsOf(w.HubMessagesTo("arya")), []string{
		"Error: ned has not seen this for 30 min. Hint: it sleeps until 2026-03-01T10:00:00Z.",
	})
}

func TestMissedDeadlineIsReportedOnceAndTheDeliveryStaysOpen(t *testing.T) {
	t.Parallel()
	deadline := began.Add(time.Minute)
	for name, c := range map[string]struct {
		draft parley.Draft
		do    func(*fixture, parley.Message)
		late  bool
		due   time.Time
	}{
		"nothing done":            {draft: parley.Draft{Deadline: &deadline}, late: true, due: deadline},
		"seen, not answered":      {parley.Draft{Deadline: &deadline}, func(w *fixture, _ parley.Message) { w.TakeAs("ned", parley.Take{Seen: true}) }, true, deadline},
		"acked":                   {parley.Draft{Deadline: &deadline}, func(w *fixture, m parley.Message) { w.AckAs("ned", m.ID) }, false, deadline},
		"answered":                {parley.Draft{Deadline: &deadline}, func(w *fixture, m parley.Message) { w.ReplyAs("ned", m.ID, "yes") }, false, deadline},
		"by the priority: low":    {parley.Draft{RequiresAck: true, Priority: mustPriority(2)}, nil, true, began.Add(24 * time.Hour)},
		"by the priority: urgent": {parley.Draft{RequiresAck: true, Priority: mustPriority(10)}, nil, true, began.Add(5 * time.Second)},
		"a status that asks for an ack": {
			parley.Draft{RequiresAck: true, Type: parley.TypeStatus}, nil, true, began.Add(30 * time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned")
			c.draft.Direct = []string{"ned"}
			m := w.PostAs("arya", c.draft).Message
			same(t, "deadline", *m.Deadline, c.due)
			if c.do != nil {
				c.do(w, m)
			}
			lates := func() (n int) {
				for _, told := range w.HubMessagesTo("arya") {
					if told.Content.Text == "Error: ned has not answered this by "+c.due.Format(time.RFC3339)+
						". Hint: the message is still open: wait, or ask another participant." {
						n++
					}
				}
				return n
			}
			w.Clock.Advance(c.due.Sub(began) - time.Millisecond)
			w.SweepDueDeliveries()
			same(t, "before", lates(), 0)
			state := w.DeliveryState(m.ID, "ned")
			for range 2 {
				w.Clock.Advance(48 * time.Hour)
				w.SweepDueDeliveries()
				same(t, "told", []any{lates() == 1, w.DeliveryOf(m.ID, "ned").Late}, []any{c.late, c.late})
			}
			same(t, "state", w.DeliveryState(m.ID, "ned"), state)
		})
	}
}

func mustPriority(level int) parley.Priority {
	p, err := parley.PriorityOf(level)
	if err != nil {
		panic(err)
	}
	return p
}

func TestDeadLetterIsNotLate(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 1 })
	deadline := began.Add(time.Minute)
	m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Deadline: &deadline}).Message
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	w.Clock.Advance(time.Hour)
	w.SweepDueDeliveries()
	same(t, "told of the dead letter alone", len(w.HubMessagesTo("arya")), 1)
	_, err := w.RetryDead(ctx, user, m.ID, "")
	w.NoError(err)
	w.SweepDueDeliveries()
	same(t, "late once it is tried again", w.DeliveryOf(m.ID, "ned").Late, true)
}

func TestErrorOfTheHubGoesToTheSenderAloneAndWakesNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned", "bran")
	w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", TTL: 1})
	w.Clock.Advance(time.Second)
	w.SweepDueDeliveries()
	told := w.HubMessagesTo("arya")
	shown := resultOf[parley.Shown](w)(w.Message(ctx, user, told[0].ID))
	d := shown.Deliveries[0]
	same(t, "delivered", []any{wakesByRecipient(shown.Deliveries), d.Purpose, d.PairSeq}, []any{map[string]bool{"arya": false}, parley.PurposeError, int64(1)})
	same(t, "takes no room", w.InboxOf("arya"), parley.Inbox{Work: 1})
	same(t, "taken", w.TakeTexts("arya", parley.Take{Waking: true}), []string{})
	w.NackTaken("arya", w.TakeAs("arya", parley.Take{}), parley.FailureFinal)
	same(t, "it failed", w.DeliveryState(told[0].ID, "arya"), parley.DeliveryFailed)
	same(t, "and nobody is told of that", len(w.HubMessagesTo("arya")), 1)
}

func TestErrorOfAnAgentCausesNoOther(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeError, TTL: 1}).Message
	w.Clock.Advance(time.Second)
	w.SweepDueDeliveries()
	same(t, "expired", w.DeliveryState(m.ID, "ned"), parley.DeliveryExpired)
	same(t, "told", len(w.HubMessagesTo("arya")), 0)
}

func TestRemovedSenderGetsNoErrors(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TTL: 1}).Message
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	w.Clock.Advance(time.Second)
	w.SweepDueDeliveries()
	same(t, "expired", w.DeliveryState(m.ID, "ned"), parley.DeliveryExpired)
	same(t, "told", len(w.HubMessagesTo("arya")), 0)
}

func TestErrorBringsAnArchivedConversationBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	conv := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TTL: 1}).Message.Conversation
	w.NoError(w.Archive(ctx, as("arya"), conv, true))
	w.Clock.Advance(time.Second)
	w.SweepDueDeliveries()
	same(t, "archived", w.ConversationAs("arya", conv).ArchivedAt != nil, false)
}

// What has ended with something else that was due is left alone, and holds up nobody.
func TestSweepLeavesDeliveriesThatEndedWithAnother(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 2 })
	id := w.Delegate(user, "ned", "look at it")
	w.TakeAs("ned", parley.Take{})
	w.AdvanceLeases(time.Hour) // the lease
	w.AdvanceLeases(time.Hour) // the pause
	w.TakeAs("ned", parley.Take{})
	resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ned"), parley.NewTask{Text: "a part", Assignee: "data", Parent: id}))
	w.RunAndAnswer("data", "42")
	taken := w.TakeAs("ned", parley.Take{})
	part := taken.Messages[0].ID
	resultOf[[]parley.Delivery](w)(w.Nack(ctx, as("ned"), taken.Lease, parley.Trouble{Failure: parley.FailureBusy, After: 10 * time.Minute}, part))
	w.AdvanceLeases(time.Hour) // both are due: the task fails with its request, and what was for it ends
	w.AssertTaskState(parley.TaskFailed, id)
	same(t, "its part", w.DeliveryState(part, "ned"), parley.DeliveryFailed)
	w.AssertConsistent()
}

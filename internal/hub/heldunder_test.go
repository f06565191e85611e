package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// A held delegation hangs under a task of the run that wanted it, though that has ended by the time it is approved, and
// the caller goes on in that task.
func TestHeldDelegationHangsUnderItsCallersTask(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"the run has ended": true, "the run goes on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t, mayLoop)
			w.addInternOffice()
			trigger := w.PostAs(parley.Owner, parley.Draft{Direct: []string{"intern"}, Content: text("Have it checked\nby tomorrow")}).Message
			run := w.StartRun("intern")
			contact := parley.Contact{Pattern: parley.PatternDelegate, Agent: "senior", Message: "Check it"}
			a := w.HeldApproval(w.TryContact(run.Caller(), contact))
			same(t, "before", []any{a.Task, w.RunByID(run.Run.ID).Task}, []any{"", ""})
			if ends {
				w.EndRun(run, "I have asked")
			}
			a = w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			above := w.TaskByID(a.Task)
			same(t, "the task", []any{above.Title, above.Assignee, above.Requester, above.Message, above.Status},
				[]any{"Have it checked", "intern", "user", trigger.ID, parley.TaskActive})
			same(t, "of the run", w.RunByID(run.Run.ID).Task, above.ID)
			same(t, "under it", len(above.Subtasks), 1)
			if !ends {
				w.EndRun(run, "I have asked")
			}
			told := w.StartRun("intern")
			same(t, "told in", []any{told.Run.Task, told.Run.Conversation}, []any{above.ID, trigger.Conversation})
			w.EndRun(told, "good")
			w.AssertTaskState(parley.TaskActive, above.ID)
			w.RunAndAnswer("senior", "it is right")
			last := w.StartRun("intern")
			same(t, "the result comes in", []any{last.Run.Task, last.Run.Conversation}, []any{above.ID, trigger.Conversation})
			w.EndRun(last, "it was checked")
			w.AssertTaskState(parley.TaskCompleted, above.ID, above.Subtasks[0])
			w.AssertIdle("intern", "senior")
			w.AssertConsistent()
		})
	}
}

// Nothing of the task remains where the delegation is refused.
func TestRefusedHeldDelegationLeavesNoTask(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.addInternOffice()
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "senior", Message: "Check it"}))
	w.EndRun(run, "")
	w.AddPermission("intern", "senior", parley.EffectDeny)
	same(t, "refused", w.DecideAs("boss", a.ID, parley.Decision{Approve: true}).Refused(), true)
	same(t, "tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 0)
}

// Who answers an ask is told what has come of its answer.
func TestReplyToAnAskReportsItsOutcome(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("a", "b", "c")
	w.AddPollingAgents("ana")
	defer w.openSessions("ana")()
	said := func(r parley.Receipt) []any { return []any{r.Asker, r.Notices} }
	run := w.WakeAndStartRun("a")
	waits := w.beginAsk(run.Caller(), "ana", "one?")
	same(t, "who waits", said(w.ReplyAs("ana", waits.request.ID, "yes")), []any{"a", []string{"a gets this as the answer to its ask"}})
	late := w.beginAsk(run.Caller(), "ana", "two?")
	late.giveUp()
	late.resultText()
	w.EndRun(run, "gave up")
	same(t, "late", said(w.ReplyAs("ana", late.request.ID, "yes")),
		[]any{"a", []string{"a was told: the answer to its ask was late, and went to it as a callback"}})
	w.EndRun(w.StartRun("a"), "thanks")
	w.SayIn("user", w.CreateChannel("user", "open", "a").ID, "@a go on")
	other := w.StartRun("a")
	left := w.beginAsk(other.Caller(), "ana", "three?")
	w.FailRunWith(other, parley.FailureFinal)
	same(t, "left", said(w.ReplyAs("ana", left.request.ID, "yes")),
		[]any{"a", []string{"nobody waits for this answer any more: the run of a that asked has ended"}})
	p := w.beginAsk(user, "b", "four?")
	b := w.StartRun("b")
	w.Delegate(b.Caller(), "c", "find out")
	same(t, "parked", said(w.PostFromRun(b, parley.Draft{InReplyTo: p.request.ID, Content: text("soon")})),
		[]any{"user", []string{"user still waits for the answer to its ask, which is the end of " + w.RunByID(b.Run.ID).Task}})
	same(t, "nobody", said(w.ReplyAs("ana", waits.request.ID, "by the way")), []any{"", []string(nil)})
}

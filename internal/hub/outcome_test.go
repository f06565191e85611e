package hub_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// outcomeNow returns the state of an outcome without waiting.
func (w *fixture) outcomeNow(by hub.Caller, id string) parley.Awaited {
	w.T.Helper()
	return resultOf[parley.Awaited](w)(w.AwaitOutcome(ctx, by, id, 0))
}

// awaitOutcomeWhile starts to wait for an outcome, calls then, and returns the outcome.
func (w *fixture) awaitOutcomeWhile(by hub.Caller, id string, then func()) parley.Awaited {
	w.T.Helper()
	told, failed := make(chan parley.Awaited, 1), make(chan error, 1)
	go func() {
		now, err := w.AwaitOutcome(ctx, by, id, time.Hour)
		told <- now
		failed <- err
	}()
	then()
	w.NoError(<-failed)
	return <-told
}

// codeOf returns the code of a failure, or none.
func codeOf(now parley.Awaited) parley.Code {
	if now.Error == nil {
		return ""
	}
	return now.Error.Code
}

// quotedAnswer returns the quote that marks the words of b after "Response from b: ".
func quotedAnswer(words string) []parley.Quote {
	const start = len("Response from b: ")
	return []parley.Quote{{By: "b", Start: start, End: start + len(words)}}
}

func TestWaitForAnAsk(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.AddScriptAgents("a", "b")
	w.AddPerson("ann", parley.AccessMember)
	asked := w.beginAsk(user, "b", "one")
	asked.resultText()
	same(t, "late", w.outcomeNow(user, asked.request.ID), parley.Awaited{ID: asked.request.ID, Name: asked.request.ShortName(), Kind: parley.AwaitedAsk, From: "user", State: "late"})
	now := w.awaitOutcomeWhile(user, asked.request.ID, func() { w.RunAndAnswer("b", "yes") })
	same(t, "answered", now, parley.Awaited{ID: asked.request.ID, Name: asked.request.ShortName(), Kind: parley.AwaitedAsk, From: "user", State: "answered", Done: true, Text: "Response from b: yes", Quotes: quotedAnswer("yes")})
	same(t, "nothing is left", w.PendingTexts("user"), []string{})
	same(t, "and again", w.outcomeNow(user, asked.request.ID), now)

	asked = w.beginAsk(user, "b", "two")
	asked.resultText()
	w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
	same(t, "an owner", w.outcomeNow(as("b"), asked.request.ID).Text, "Error: b failed to respond: it broke")
	same(t, "who has not asked settles nothing", w.PendingTexts("user"), []string{"Error: b failed to respond: it broke"})
	now = w.outcomeNow(user, asked.request.ID)
	same(t, "failed", []any{now.State, now.Done, now.Text, codeOf(now)}, []any{"failed", true, "Error: b failed to respond: it broke", parley.DependencyFailed})
	same(t, "nothing is left", w.PendingTexts("user"), []string{})

	_, err := w.AwaitOutcome(ctx, as("ann"), asked.request.ID, 0)
	same(t, "a stranger", parley.AsError(err).Reason, parley.NotFound)
	_, err = w.AwaitOutcome(ctx, user, "nothing", 0)
	same(t, "nothing", parley.AsError(err).Reason, parley.NotFound)
	_, err = w.AwaitOutcome(ctx, user, asked.request.ID, -1)
	same(t, "no time", parley.CodeOf(err), parley.BadInput)
	w.AssertConsistent()
}

// A run that waits for an ask again, which it has left, is blocked meanwhile.
func TestARunWaitsForAnAskAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	run := w.WakeAndStartRun("a")
	asked := w.beginAsk(run.Caller(), "b", "well?")
	asked.giveUp()
	<-asked.done
	now := w.awaitOutcomeWhile(run.Caller(), asked.request.ID, func() {
		for w.RunByID(run.Run.ID).State != parley.RunWaiting {
			runtime.Gosched()
		}
		w.RunAndAnswer("b", "yes")
	})
	same(t, "told", []any{now.Text, w.RunByID(run.Run.ID).State}, []any{"Response from b: yes", parley.RunRunning})
	w.EndRun(run, "done")
	w.AssertIdle("a")
	w.AssertConsistent()
}

func TestWaitForATask(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	task := w.Delegate(user, "b", "count")
	same(t, "queued", w.outcomeNow(user, task), parley.Awaited{ID: task, Name: task, Kind: parley.AwaitedTask, State: "queued"})
	done := parley.Awaited{ID: task, Name: task, Kind: parley.AwaitedTask, State: "completed", Done: true, Text: "Response from b: three", Quotes: quotedAnswer("three")}
	same(t, "completed", w.awaitOutcomeWhile(user, task, func() { w.RunAndAnswer("b", "three") }), done)
	same(t, "nothing is left", w.PendingTexts("user"), []string{})
	same(t, "by its request", w.outcomeNow(user, w.TaskByID(task).Message), done)
	same(t, "by its number", w.outcomeNow(user, task[len("task-"):]), done)

	due := w.Clock.Now().Add(time.Second)
	task = w.Delegate(user, "b", "count", func(c *parley.Contact) { c.Deadline = &due })
	w.Clock.Advance(2 * time.Second)
	w.NoError(w.SweepTasks(ctx))
	same(t, "past its deadline", codeOf(w.outcomeNow(user, task)), parley.TimedOut)
	task = w.Delegate(user, "b", "count")
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, task, "enough"))
	now := w.outcomeNow(user, task)
	same(t, "cancelled", []any{now.State, codeOf(now)}, []any{"cancelled", parley.DependencyFailed})
	w.AssertConsistent()
}

func TestWaitForAMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	m := w.SendDM("user", "b", "hello?").Message
	same(t, "accepted", w.outcomeNow(user, m.ID), parley.Awaited{ID: m.ID, Name: m.ShortName(), Kind: parley.AwaitedMessage, State: "accepted"})
	now := w.awaitOutcomeWhile(user, m.ID, func() { w.RunAndAnswer("b", "hello") })
	same(t, "answered", []any{now.State, now.Done, now.Text, textsOf(now.Answers)}, []any{"answered", true, "hello", []string{"hello"}})

	m = w.SendDM("user", "b", "say nothing").Message
	w.EndRun(w.StartRun("b"), "")
	now = w.outcomeNow(user, m.ID)
	same(t, "read and not answered", []any{now.State, now.Done, now.Text, codeOf(now)},
		[]any{"acked", true, "Error: b failed to respond: it gave no answer", parley.DependencyFailed})
	m = w.SendDM("user", "b", "fail").Message
	w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
	now = w.outcomeNow(user, m.ID)
	same(t, "failed", []any{now.Done, now.Text}, []any{true, "Error: b failed to respond: it broke"})
	_, err := w.AwaitOutcome(ctx, user, now.ID, 0)
	w.NoError(err)
	quiet := resultOf[parley.Contacted](w)(w.Contact(ctx, user, parley.Contact{Pattern: parley.PatternNotify, Agent: "b", Message: "fyi"}))
	_, err = w.AwaitOutcome(ctx, user, quiet.Message, 0)
	same(t, "nobody is to answer", parley.CodeOf(err), parley.BadInput)
}

func TestWaitForAnApproval(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Approvals.Expire = time.Hour })
	w.addInternOffice()
	held := w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "well?")))
	same(t, "pending", w.outcomeNow(as("intern"), held.ID), parley.Awaited{ID: held.ID, Name: "approval-1", Kind: parley.AwaitedApproval, State: "pending"})
	now := w.awaitOutcomeWhile(as("intern"), held.ID, func() {
		w.DecideAs("boss", held.ID, parley.Decision{Approve: true})
		w.RunAndAnswer("senior", "fine")
	})
	same(t, "executed", now, parley.Awaited{ID: held.ID, Name: "approval-1", Kind: parley.AwaitedApproval, State: "executed", Done: true, Text: "Response from senior: fine"})
	same(t, "nothing is left", w.PendingTexts("intern"), []string{})
	held = w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "again?")))
	now = w.awaitOutcomeWhile(as("intern"), held.ID, func() { w.DecideAs("boss", held.ID, parley.Decision{Note: "no"}) })
	same(t, "denied", []any{now.State, now.Text, codeOf(now)}, []any{"denied", "Approval denied for contacting senior.", parley.NotPermitted})
	held = w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "once more?")))
	w.Clock.Advance(2 * time.Hour)
	w.NoError(w.SweepApprovals(ctx))
	same(t, "expired", codeOf(w.outcomeNow(as("intern"), held.ID)), parley.TimedOut)
	_, err := w.AwaitOutcome(ctx, as("senior"), held.ID, 0)
	same(t, "a stranger", parley.AsError(err).Reason, parley.NotFound)
	w.AssertConsistent()
}

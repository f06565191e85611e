package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// keyedAsk returns an ask with an idempotency key, which its caller can repeat.
func keyedAsk() parley.Contact {
	return parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "well?", IdempotencyKey: "k"}
}

// A repeated ask waits until the first deadline, however long it would wait itself.
func TestARepeatedAskDoesNotExtendItsDeadline(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	first := w.beginContact(user, keyedAsk())
	first.giveUp()
	<-first.done
	before := w.askWait(first.request.ID)
	w.Clock.Advance(time.Minute)
	longer := keyedAsk()
	longer.Wait = time.Hour
	again := w.repeatContact(user, longer, first.request)
	after := w.askWait(first.request.ID)
	same(t, "waits", []any{after.State, after.Since, after.Until}, []any{parley.WaitWaiting, before.Since, before.Until})
	again.giveUp()
	<-again.done
	w.Clock.Advance(time.Minute)
	late := "E004 Error: b did not respond within 120 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes."
	same(t, "at the first deadline", w.repeatContact(user, longer, first.request).resultText(), late)
	w.RunAndAnswer("b", "yes")
	same(t, "brought", w.PendingTexts("user"), []string{"Response from b: yes"})
}

// An ask whose hub has crashed is late for the hub. The answer that its caller then gets inline is not brought besides.
func TestAnAnswerReturnedInlineSettlesItsCallback(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.AddPerson("ann", parley.AccessMember)
	for _, to := range []string{"b", "ann"} {
		ask := keyedAsk()
		ask.Agent, ask.IdempotencyKey = to, to
		first := w.beginContact(user, ask)
		crash(w, first)
		w.NoError(w.RecoverWaits(ctx))
		if to == "ann" {
			w.ReplyAs("ann", first.request.ID, "yes")
		} else {
			w.RunAndAnswer(to, "yes")
		}
		same(t, "brought", w.PendingTexts("user"), []string{"Response from " + to + ": yes"})
		same(t, "heard", w.beginContact(user, ask).resultText(), "Response from "+to+": yes")
		same(t, "left", w.PendingTexts("user"), []string{})
	}
	w.AssertConsistent()
}

// A failure that is returned inline is not brought besides either.
func TestAFailureReturnedInlineSettlesItsCallback(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	first := w.beginContact(user, keyedAsk())
	crash(w, first)
	w.NoError(w.RecoverWaits(ctx))
	w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
	same(t, "brought", w.PendingTexts("user"), []string{"Error: b failed to respond: it broke"})
	same(t, "heard", w.beginContact(user, keyedAsk()).resultText(), "E005 Error: b failed to respond: it broke")
	same(t, "left", w.PendingTexts("user"), []string{})
}

// What a run has in hand is not taken from it.
func TestACallbackThatARunHasStaysWithIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	first := w.beginContact(as("a"), keyedAsk())
	crash(w, first)
	w.NoError(w.RecoverWaits(ctx))
	w.RunAndAnswer("b", "yes")
	run := w.StartRun("a")
	same(t, "heard", w.beginContact(as("a"), keyedAsk()).resultText(), "Response from b: yes")
	same(t, "the run has", textsOf(run.Messages), []string{"Response from b: yes"})
	w.EndRun(run, "thanks")
	w.AssertIdle("a")
	w.AssertConsistent()
}

// The result of a task that was waited for is not brought besides: neither to a person nor to the run that waited.
func TestAResultReturnedInlineSettlesItsCallback(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	work := parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "count", Wait: time.Hour}
	by := w.beginContact(user, work)
	w.RunAndAnswer("b", "three")
	same(t, "heard", by.resultText(), "Response from b: three")
	same(t, "a person has left", w.PendingTexts("user"), []string{})

	run := w.WakeAndStartRun("a")
	by = w.beginContact(run.Caller(), work)
	w.RunAndAnswer("b", "four")
	same(t, "heard", by.resultText(), "Response from b: four")
	w.EndRun(run, "it is four")
	w.AssertIdle("a")
	w.AssertTaskState(parley.TaskCompleted, w.RunByID(run.Run.ID).Task)
	w.AssertConsistent()
}

// For a caller that waits, a task whose deadline has passed has timed out.
func TestATaskPastItsDeadlineHasTimedOut(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	due := w.Clock.Now().Add(2 * time.Second)
	by := w.beginContact(user, parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "count", Wait: time.Hour, Deadline: &due})
	w.Clock.Advance(3 * time.Second)
	w.NoError(w.SweepTasks(ctx))
	<-by.done
	same(t, "heard", parley.CodeOf(by.err), parley.TimedOut)
	same(t, "in words", by.made.Text, parley.AsError(by.err).Message)
}

// A key that a client makes for each call does not make two calls of one: neither for who approves nor for a later attempt.
func TestAKeyOfTheConnectionIsNoPartOfTheCall(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.addInternOffice()
	w.AddScriptAgents("b")
	ask := askContact("senior", "well?")
	ask.IdempotencyKey = parley.CallKey("1")
	first := w.HeldApproval(w.TryContact(as("intern"), ask))
	ask.IdempotencyKey = parley.CallKey("2")
	same(t, "the same approval", w.HeldApproval(w.TryContact(as("intern"), ask)).ID, first.ID)
	ask.IdempotencyKey = "mine"
	if other := w.HeldApproval(w.TryContact(as("intern"), ask)).ID; other == first.ID {
		t.Error("a call with a key of its own is held as the one without")
	}

	run := w.WakeAndStartRun("b")
	question := keyedAsk()
	question.Agent, question.IdempotencyKey = "senior", parley.CallKey("3")
	before := w.beginContact(run.Caller(), question)
	w.FailRunWith(run, parley.FailureStopped)
	before.resultText()
	question.IdempotencyKey = parley.CallKey("4")
	again := w.repeatContact(w.StartRun("b").Caller(), question, before.request)
	w.RunAndAnswer("senior", "yes")
	same(t, "a later attempt", []any{again.resultText(), again.made.Message}, []any{"Response from senior: yes", before.request.ID})
}

// The number of attempts follows the reason of the failure, which may already end with a full stop.
func TestAttemptsAreCountedBehindTheSentence(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.EditAgent("b", func(a *parley.Agent) { a.Attempts = 2 })
	task := w.Delegate(user, "b", "count")
	w.SendDM("user", "b", "hello")
	for range 4 {
		if run := w.NextRunOf("b"); run != nil {
			w.NoError(w.BeginRun(ctx, run.Run.ID, parley.Process{}))
			why := &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureServer, Reason: "Rate limit exceeded. Try again later."}}
			resultOf[parley.Run](w)(w.FailRun(ctx, run.Run.ID, why, parley.Result{}, nil))
		}
		w.AdvanceLeases(time.Hour)
	}
	same(t, "told", textsOf(w.HubMessagesTo("user")), []string{
		"[Delegation Failed | b | " + task + "]\nError: b failed to complete the task: Rate limit exceeded. Try again later. (2 attempts)",
		"Error: b did not do this: Rate limit exceeded. Try again later. (2 attempts). Hint: an owner can retry or drop it: parley dead list.",
	})
}

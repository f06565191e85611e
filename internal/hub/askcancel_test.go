package hub_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// Cancelling the asking run cancels the answer: the task with everything under it, and its pending approvals.
func TestCancelOfTheAskerGoesDown(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(*fixture, parked){
		"by a person": func(w *fixture, p parked) {
			resultOf[parley.Run](w)(w.CancelRun(ctx, user, p.run.Run.ID, "enough"))
		},
		"by a task": func(w *fixture, p parked) {
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, w.RunByID(p.run.Run.ID).Task, "enough"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			w.AddScriptAgents("d")
			w.AddPermission("c", "d", parley.EffectAllow, withApproval)
			w.Delegate(user, "a", "have it found out")
			p := parked{run: w.StartRun("a")}
			p.asking = w.beginAsk(p.run.Caller(), "b", "what is it?")
			p.task, p.sub = w.delegateAndFinish("b", "c")
			c := w.StartRun("c")
			held := w.HeldApproval(w.TryContact(c.Caller(), notifyContact("d", "x")))
			cancel(w, p)
			w.FailRunWith(p.run, parley.FailureStopped)
			w.AssertTaskState(parley.TaskCancelled, p.task, p.sub)
			same(t, "the approval", w.ApprovalByID(held.ID).State, parley.ApprovalWithdrawn)
			if why := resultOf[string](w)(w.ExtendRunLease(ctx, c.Run.ID)); why == "" {
				t.Error("c goes on")
			}
			p.resultText()
			same(t, "the wait", w.askWait(p.request.ID).State, parley.WaitFailed)
			w.FailRunWith(c, parley.FailureStopped)
			same(t, "brought", w.askResultsTo("a"), []string{})
			w.AssertIdle("a", "b", "c")
			w.AssertConsistent()
		})
	}
}

// Where one answer is enough, the asks of the others are over with them.
func TestFirstAnswerCancelsTheAsksOfTheOthers(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.AddScriptAgents("e")
	w.CreateConversationAs("user", parley.NewConversation{Name: "both", With: []string{"a", "e"}, Answers: parley.AnswersFirst})
	w.SayIn("user", "both", "who knows? @a @e")
	a, e := w.StartRun("a"), w.StartRun("e")
	ask := w.beginAsk(a.Caller(), "b", "do you?")
	task, _ := w.delegateAndFinish("b", "c")
	w.EndRun(e, "I do")
	w.FailRunWith(a, parley.FailureStopped)
	ask.resultText()
	w.AssertTaskState(parley.TaskCancelled, task)
}

// A plain ask has no task: the run that answers it ends, or does not begin, unless somebody else waits.
func TestCancelOfTheAskerEndsTheAnsweringRun(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	run := w.WakeAndStartRun("a")
	one, two := w.beginAsk(run.Caller(), "b", "one?"), w.beginAsk(run.Caller(), "c", "two?")
	b := w.StartRun("b")
	deeper := w.beginAsk(b.Caller(), "c", "three?")
	resultOf[parley.Run](w)(w.CancelRun(ctx, user, run.Run.ID, "enough"))
	w.FailRunWith(run, parley.FailureStopped)
	one.resultText()
	two.resultText()
	same(t, "b is to end", resultOf[string](w)(w.ExtendRunLease(ctx, b.Run.ID)), "a no longer needs it: its run was cancelled by user: enough")
	w.FailRunWith(b, parley.FailureStopped)
	deeper.resultText()
	w.AssertIdle("a", "b", "c")
	same(t, "the waits", []any{w.askWait(one.request.ID).State, w.askWait(two.request.ID).State, w.askWait(deeper.request.ID).State},
		[]any{parley.WaitFailed, parley.WaitFailed, parley.WaitFailed})
	w.AssertConsistent()
}

// What an approval, or another run, waits for goes on.
func TestCancelOfOneAskerLeavesTheOther(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "what is it?", IdempotencyKey: "k"}
	first := w.beginContact(w.WakeAndStartRun("a").Caller(), ask)
	b := w.StartRun("b")
	w.SayIn("user", w.CreateChannel("user", "open", "a").ID, "@a find out")
	second := w.startContact(w.StartRun("a").Caller(), ask)
	for w.askWait(first.request.ID).Run != second.run {
		runtime.Gosched()
	}
	resultOf[parley.Run](w)(w.CancelRun(ctx, user, first.run, ""))
	resultOf[parley.Run](w)(w.FailRun(ctx, first.run, stopped, parley.Result{}, nil))
	same(t, "b is to end", resultOf[string](w)(w.ExtendRunLease(ctx, b.Run.ID)), "")
	w.EndRun(b, "42")
	same(t, "heard", second.resultText(), "Response from b: 42")
}

var stopped = &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureStopped}}

// A run that fails, is lost, or is stopped with its agent or the hub has cancelled nothing.
func TestOnlyAnExplicitCancelGoesDown(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fixture, parked){
		"it fails":      func(w *fixture, p parked) { w.FailRunWith(p.run, parley.FailureFinal) },
		"it stumbles":   func(w *fixture, p parked) { w.FailRunWith(p.run, parley.FailureServer) },
		"the hub stops": func(w *fixture, p parked) { w.FailRunWith(p.run, parley.FailureStopped) },
		"it is lost":    func(w *fixture, p parked) { w.NoError(w.RecoverRun(ctx, p.run.Run.ID)) },
		"its agent stops": func(w *fixture, p parked) {
			w.stopAgent("a", 1)
			w.Clock.Advance(time.Minute)
			w.SweepDueDeliveries()
			w.FailRunWith(p.run, parley.FailureStopped)
		},
		"a is removed":      func(w *fixture, _ parked) { w.NoError(w.RemoveAgent(ctx, user, "a")) },
		"it is deleted":     func(w *fixture, p parked) { w.NoError(w.DeleteConversation(ctx, user, p.run.Run.Conversation)) },
		"it ends well":      func(w *fixture, p parked) { p.giveUp(); p.resultText(); w.EndRun(p.run, "gave up") },
		"it does not wait":  func(_ *fixture, p parked) { p.giveUp() },
		"its hub is killed": func(w *fixture, _ parked) { w.NoError(w.RecoverWaits(ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			p := w.parkAsk()
			end(w, p)
			w.AssertTaskState(parley.TaskActive, p.task)
			w.AssertTaskState(parley.TaskQueued, p.sub)
			w.RunAndAnswer("c", "42")
			w.RunAndAnswer("b", "it is 42")
			w.AssertTaskState(parley.TaskCompleted, p.task)
			same(t, "the wait", w.askWait(p.request.ID).State, parley.WaitAnswered)
			if n := len(w.askResultsTo("a")); n > 1 {
				t.Errorf("brought %d times", n)
			}
			w.AssertConsistent()
		})
	}
}

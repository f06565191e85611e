package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// askOnce returns an ask with an idempotency key, so that repeated calls join the same ask.
func askOnce() parley.Contact {
	c := askContact("senior", "well?")
	c.IdempotencyKey = "k"
	return c
}

// startTaskWithHeldAsk has intern begin a task and ask senior in its run. The hub holds the ask for an approval.
func (w *fixture) startTaskWithHeldAsk() (task string, run *hub.Assignment, held parley.Approval) {
	w.T.Helper()
	w.addInternOffice()
	task = resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Assignee: "intern", Text: "analyse"})).ID
	run = w.StartRun("intern")
	return task, run, w.HeldApproval(w.TryContact(run.Caller(), askOnce()))
}

// finishTaskAfterApproval ends intern's task. The outcome of the approved call must wake intern in the task.
func (w *fixture) finishTaskAfterApproval(task, approval, want string) {
	w.T.Helper()
	same(w.T, "the approval", w.ApprovalByID(approval).State, parley.ApprovalExecuted)
	again := w.StartRun("intern")
	same(w.T, "woken in the task by", []any{again.Run.Task, textsOf(again.Messages)}, []any{task, []string{want}})
	w.EndRun(again, "done")
	w.AssertTaskState(parley.TaskCompleted, task)
	w.AssertIdle("boss", "intern")
	w.AssertConsistent()
}

// A call that waits for an approval is made again, by its key, while the ask is not answered: who has called and the
// approval are both told what came of it.
func TestApprovedAskIsJoinedByItsCaller(t *testing.T) {
	const fine = "Response from senior: fine"
	for name, then := range map[string]func(*fixture, *hub.Assignment, *asking){
		"answered": func(w *fixture, run *hub.Assignment, joined *asking) {
			w.RunAndAnswer("senior", "fine")
			same(w.T, "heard", joined.resultText(), fine)
			same(w.T, "the run", w.RunByID(run.Run.ID).State, parley.RunRunning)
			w.EndRun(run, "so far")
		},
		"its caller leaves": func(w *fixture, run *hub.Assignment, joined *asking) {
			joined.giveUp()
			<-joined.done
			same(w.T, "the run", w.RunByID(run.Run.ID).State, parley.RunRunning)
			w.EndRun(run, "so far")
			w.RunAndAnswer("senior", "fine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			task, run, a := w.startTaskWithHeldAsk()
			w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			joined := w.repeatContact(run.Caller(), askOnce(), w.NewestMessage())
			same(t, "the run", w.RunByID(run.Run.ID).State, parley.RunWaiting)
			then(w, run, joined)
			w.finishTaskAfterApproval(task, a.ID, fine)
		})
	}
}

// The approval waits on when the run fails that has joined it.
func TestApprovedAskOutlivesTheRunThatJoinedIt(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askOnce()))
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	joined := w.repeatContact(run.Caller(), askOnce(), w.NewestMessage())
	w.FailRunWith(run, parley.FailureFinal)
	w.RunAndAnswer("senior", "fine")
	joined.resultText()
	same(t, "the approval", w.ApprovalByID(a.ID).State, parley.ApprovalExecuted)
	same(t, "woken by", textsOf(w.StartRun("intern").Messages), []string{"Response from senior: fine"})
	w.AssertConsistent()
}

func TestApprovedAskThatIsJoinedIsLate(t *testing.T) {
	w := newHub(t, withShortAsks)
	task, run, a := w.startTaskWithHeldAsk()
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.AssertCode(parley.TimedOut, w.TryContact(run.Caller(), askOnce()))
	same(t, "the run", w.RunByID(run.Run.ID).State, parley.RunRunning)
	w.EndRun(run, "so far")
	w.finishTaskAfterApproval(task, a.ID, "Error: senior did not respond within 0.001 seconds. Consider using 'delegate' for async processing."+
		" The answer will be delivered when it comes.")
}

// A call that was made without the approval meanwhile is not made again. What came of it is what comes of the approval.
func TestApprovedAskThatWasAlreadyMadeIsNotRepeated(t *testing.T) {
	answer := func(w *fixture) { w.RunAndAnswer("senior", "fine") }
	fail := func(w *fixture) { w.FailRunWith(w.StartRun("senior"), parley.FailureFinal) }
	none := func(*fixture) {}
	for name, end := range map[string]struct {
		before, after func(*fixture)
		want          string
	}{
		"answered before": {answer, none, "Response from senior: fine"},
		"answered after":  {none, answer, "Response from senior: fine"},
		"failed before":   {fail, none, "Error: senior failed to respond: it broke"},
		"failed after":    {none, fail, "Error: senior failed to respond: it broke"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			task, run, a := w.startTaskWithHeldAsk()
			w.EditAgent("intern", func(a *parley.Agent) { a.Mode = parley.ModeAutonomous })
			made := w.beginContact(run.Caller(), askOnce())
			end.before(w)
			w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			end.after(w)
			made.resultText()
			w.EndRun(run, "so far")
			w.finishTaskAfterApproval(task, a.ID, end.want)
		})
	}
}

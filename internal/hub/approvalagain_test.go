package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// Who asks again what was approved, and leaves, is brought the answer where the approval is over.
func TestRepeatedAskGetsItsAnswerAfterTheApprovalEnded(t *testing.T) {
	t.Parallel()
	late := func(w *fixture) {
		w.Clock.Advance(time.Second)
		w.NoError(w.SweepWaits(ctx))
	}
	long := askOnce()
	long.Wait = time.Hour
	t.Run("late, outside of runs", func(t *testing.T) {
		t.Parallel()
		w := newHub(t, withShortAsks)
		w.AddPollingAgents("arya")
		w.AddScriptAgents("senior")
		defer w.openSessions("arya")()
		w.AddPermission("arya", "senior", parley.EffectAllow, withApproval)
		a := w.HeldApproval(w.TryContact(as("arya"), askOnce()))
		w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
		request := w.NewestMessage()
		late(w)
		same(t, "approval", w.ApprovalByID(a.ID).State, parley.ApprovalExecuted)
		joined := w.repeatContact(as("arya"), long, request)
		joined.giveUp()
		<-joined.done
		w.RunAndAnswer("senior", "fine")
		same(t, "brought", w.askResultsTo("arya"), []string{"Response from senior: fine"})
		w.AssertConsistent()
	})
	t.Run("late, in a run", func(t *testing.T) {
		t.Parallel()
		w := newHub(t, withShortAsks)
		_, run, a := w.startTaskWithHeldAsk()
		w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		request := w.NewestMessage()
		late(w)
		w.repeatContact(run.Caller(), long, request)
		w.EndRun(run, "so far")
		w.RunAndAnswer("senior", "fine")
		same(t, "brought", w.askResultsTo("intern"), []string{"Response from senior: fine"})
		w.AssertConsistent()
	})
	t.Run("withdrawn", func(t *testing.T) {
		t.Parallel()
		w := newHub(t)
		task, run, a := w.startTaskWithHeldAsk()
		w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		w.repeatContact(run.Caller(), askOnce(), w.NewestMessage())
		resultOf[parley.TaskView](w)(w.UpdateTask(ctx, run.Caller(), task, parley.TaskChange{Status: parley.TaskFailed, Reason: "x"}))
		w.EndRun(run, "so far")
		w.RunAndAnswer("senior", "fine")
		same(t, "brought", w.askResultsTo("intern"), []string{"Response from senior: fine"})
		w.AssertConsistent()
	})
}

// Of two approved asks with one key the later one gets the answer, and the earlier one is told so.
func TestTwoApprovalsOfOneKey(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task, run, a := w.startTaskWithHeldAsk()
	w.EndRun(run, "I wait")
	other, _ := w.startRunInDM("intern")
	b := w.HeldApproval(w.TryContact(other.Caller(), askOnce()))
	w.EndRun(other, "I wait too")
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.DecideAs("boss", b.ID, parley.Decision{Approve: true})
	w.finishTaskAfterApproval(task, a.ID, "Error: senior got the same question in a later ask, and its answer goes to the later ask (read the answer to the later ask, or ask with another idempotency key)")
	w.RunAndAnswer("senior", "fine")
	same(t, "the later", []any{w.ApprovalByID(b.ID).State, w.ApprovalByID(b.ID).Result}, []any{parley.ApprovalExecuted, "Response from senior: fine"})
	w.AssertConsistent()
}

// What two runs wait for is one approval once both are in one task.
func TestSameCallHeldTwiceInOneTaskIsOneApproval(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("intern", "senior", "data")
	w.AddPermission("intern", "senior", parley.EffectAllow, withApproval)
	one, _ := w.startRunInDM("intern")
	first := w.HeldApproval(w.TryContact(one.Caller(), askContact("senior", "well?")))
	w.FailRunWith(one, parley.FailureServer)
	two, _ := w.startRunInDM("intern")
	w.Delegate(two.Caller(), "data", "figures")
	second := w.HeldApproval(w.TryContact(two.Caller(), askContact("senior", "well?")))
	w.FailRunWith(two, parley.FailureServer)
	w.AdvanceLeases(time.Hour)
	three := w.StartRun("intern") // by what woke both
	w.Delegate(three.Caller(), "data", "more")
	same(t, "approvals", []any{w.ApprovalByID(first.ID).State, w.ApprovalByID(second.ID).State}, []any{parley.ApprovalWithdrawn, parley.ApprovalPending})
}

// The outcome of an approved post that asks for work is told in the task that the run was given for it.
func TestOutcomeOfAnApprovedRequestStaysInItsTask(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("intern", "senior")
	w.AddPermission("intern", "senior", parley.EffectAllow, withApproval)
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(errorOf(w.Post(ctx, run.Caller(), parley.Draft{Direct: []string{"senior"}, Type: parley.TypeTask, Content: text("count")})))
	w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
	w.EndRun(run, "so far")
	same(t, "task", w.StartRun("intern").Run.Task, w.RunByID(run.Run.ID).Task)
}

// The late answer of an approved ask comes in the task that its run was given later.
func TestLateApprovedAnswerComesInTheTask(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.AddScriptAgents("intern", "senior", "data")
	w.AddPermission("intern", "senior", parley.EffectAllow, withApproval)
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
	w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
	root := w.TaskByID(w.Delegate(run.Caller(), "data", "figures")).Parent
	w.Clock.Advance(time.Second)
	w.NoError(w.SweepWaits(ctx))
	w.EndRun(run, "I wait.")
	late := w.StartRun("intern")
	same(t, "late in", late.Run.Task, root)
	w.EndRun(late, "hm")
	w.RunAndAnswer("senior", "fine")
	same(t, "brought in", w.StartRun("intern").Run.Task, root)
}

// Who decides no longer is not told any more what waits.
func TestFormerManagerGetsNoNotice(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Notified = func(string) bool { return true } })
	w.AddScriptAgents("senior", "intern")
	w.AddPerson("ann", parley.AccessMember)
	w.AddPerson("bob", parley.AccessMember)
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode, a.Manager = parley.ModeSupervised, "ann" })
	w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "well?")))
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "bob" })
	same(t, "told", noticeLines(w.pendingNotices()), []string{"bob approval intern needs your approval (approval-1)"})
}

// Who has failed is not brought the answer to an ask whose approval was withdrawn, and neither is who has left it there.
func TestAnswerToAWithdrawnAskIsNotDelivered(t *testing.T) {
	t.Parallel()
	withdrawn := func(w *fixture, task, approval string) {
		resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, task, "no"))
		same(w.T, "approval", w.ApprovalByID(approval).State, parley.ApprovalWithdrawn)
	}
	t.Run("its run has failed", func(t *testing.T) {
		t.Parallel()
		w := newHub(t)
		task, run, a := w.startTaskWithHeldAsk()
		w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		w.repeatContact(run.Caller(), askOnce(), w.NewestMessage())
		w.FailRunWith(run, parley.FailureServer)
		withdrawn(w, task, a.ID)
		w.RunAndAnswer("senior", "fine")
		same(t, "brought", w.askResultsTo("intern"), []string{})
		w.AssertIdle("intern")
		w.AssertConsistent()
	})
	t.Run("its conversation is deleted", func(t *testing.T) {
		t.Parallel()
		w := newHub(t)
		task, run, a := w.startTaskWithHeldAsk()
		w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		request := w.NewestMessage()
		w.EndRun(run, "I wait")
		withdrawn(w, task, a.ID)
		w.NoError(w.DeleteConversation(ctx, user, request.Conversation))
		same(t, "brought", w.askResultsTo("intern"), []string{})
		w.AssertIdle("intern")
		w.AssertConsistent()
	})
}

// A run that goes on with an ask of an earlier one is brought its late answer where it is itself.
func TestLateAnswerGoesToTheLatestAsker(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.addInternOffice()
	w.AddScriptAgents("data")
	task := w.Delegate(user, "intern", "analyse")
	run := w.StartRun("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askOnce()))
	w.EndRun(run, "I wait")
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.Clock.Advance(time.Second)
	w.NoError(w.SweepWaits(ctx))
	w.EndRun(w.StartRun("intern"), "never mind")
	w.AssertTaskState(parley.TaskCompleted, task)
	w.AddPermission("intern", "senior", parley.EffectAllow)
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode = parley.ModeAutonomous })
	other, _ := w.startRunInDM("intern")
	w.beginContact(other.Caller(), askOnce()).resultText()
	own := w.TaskByID(w.Delegate(other.Caller(), "data", "figures")).Parent
	w.EndRun(other, "so far")
	w.RunAndAnswer("senior", "fine")
	again := w.StartRun("intern")
	same(t, "in", []string{again.Run.Task, again.Messages[0].Task}, []string{own, own})
	w.AssertConsistent()
}

// Who decides again is told again.
func TestReappointedManagerGetsANotice(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Notified = func(string) bool { return true } })
	w.AddScriptAgents("senior", "intern")
	w.AddPerson("ann", parley.AccessMember)
	w.AddPerson("bob", parley.AccessMember)
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode, a.Manager = parley.ModeSupervised, "ann" })
	w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "well?")))
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "bob" })
	same(t, "first", noticeLines(w.pendingNotices()), []string{"bob approval intern needs your approval (approval-1)"})
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "ann" })
	same(t, "then", noticeLines(w.pendingNotices()), []string{"ann approval intern needs your approval (approval-1)"})
}

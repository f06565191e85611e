package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

func TestTasksOfOthersAreHeld(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	w.AddScriptAgents("other")
	held := w.HeldApproval(errorOf(w.NewTask(ctx, as("intern"), parley.NewTask{Assignee: "senior", Text: "count", Title: "Counting"})))
	if changed := w.HeldApproval(errorOf(w.NewTask(ctx, as("intern"), parley.NewTask{Assignee: "senior", Text: "count", Title: "Recounting"}))); changed.ID == held.ID {
		t.Error("another title goes with the same approval")
	}
	w.DecideAs("boss", held.ID, parley.Decision{Approve: true})
	tasks := resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{Assignee: "senior"}))
	if len(tasks) != 1 || tasks[0].Title != "Counting" || tasks[0].Requester != "intern" {
		t.Fatalf("tasks %+v", tasks)
	}
	id := tasks[0].ID
	a := w.HeldApproval(errorOf(w.ReassignTask(ctx, as("intern"), id, "other")))
	if done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true}); done.Failure != nil || done.State != parley.ApprovalExecuted {
		t.Errorf("it is %+v", done)
	}
	a = w.HeldApproval(errorOf(w.CancelTask(ctx, as("intern"), id, "no need")))
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	if now := resultOf[parley.TaskView](w)(w.Task(ctx, user, id)); now.Assignee != "other" || now.Status != parley.TaskCancelled {
		t.Errorf("the task is %+v", now.Task)
	}
	w.AssertConsistent()
}

// Injection between agents: a task is no way around the rules.
func TestRulesHoldForTasks(t *testing.T) {
	w := newHub(t)
	w.addTownAgents()
	id := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("arya"), parley.NewTask{Assignee: "hound", Text: "count"})).ID
	w.AddPermission("arya", "gendry", parley.EffectDeny)
	w.AssertCode(parley.NotPermitted, errorOf(w.NewTask(ctx, as("arya"), parley.NewTask{Assignee: "gendry", Text: "count"})))
	w.AssertCode(parley.NotPermitted, errorOf(w.ReassignTask(ctx, as("arya"), id, "gendry")))
	w.NoError(errorOf(w.CancelTask(ctx, as("arya"), id, "")))
	w.AddPermission("arya", "hound", parley.EffectDeny)
	w.AssertCode(parley.NotPermitted, errorOf(w.RetryTask(ctx, as("arya"), id)))
	if w.NextRunOf("gendry") != nil {
		t.Error("gendry is woken")
	}
}

func TestEndedTaskWithdrawsItsApprovals(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	id := resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Assignee: "intern", Text: "analyse"})).ID
	run := w.StartRun("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
	w.EndRun(run, "I wait.")
	if now := resultOf[parley.TaskView](w)(w.Task(ctx, user, id)); now.Status != parley.TaskActive || now.WaitsOn.Approval != a.ID {
		t.Errorf("the task is %s and waits for %+v", now.Status, now.WaitsOn)
	}
	if view := resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "intern")); view.Status != parley.StatusAwaitingApproval {
		t.Errorf("intern is %s", view.Status)
	}
	w.NoError(errorOf(w.CancelTask(ctx, user, id, "")))
	if now := w.ApprovalByID(a.ID); now.State != parley.ApprovalWithdrawn {
		t.Errorf("it is %s", now.State)
	}
}

// A task goes on while an ask that was approved in it is not answered.
func TestApprovedAskKeepsItsTaskOpen(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	id := resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Assignee: "intern", Text: "analyse"})).ID
	run := w.StartRun("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.EndRun(run, "I wait.")
	if now := resultOf[parley.TaskView](w)(w.Task(ctx, user, id)); now.Status != parley.TaskActive {
		t.Errorf("before the answer the task is %s", now.Status)
	}
	w.EndRun(w.StartRun("senior"), "fine")
	again := w.StartRun("intern")
	if again.Run.Task != id {
		t.Errorf("the answer comes in task %q", again.Run.Task)
	}
	w.EndRun(again, "done")
	if now := resultOf[parley.TaskView](w)(w.Task(ctx, user, id)); now.Status != parley.TaskCompleted {
		t.Errorf("in the end the task is %s", now.Status)
	}
}

// What the former assignee wanted approved holds up nobody who has the task after it.
func TestReassignedTaskWithdrawsItsApprovals(t *testing.T) {
	for name, state := range map[string]parley.ApprovalState{"pending": parley.ApprovalPending, "approved": parley.ApprovalApproved} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.addInternOffice()
			w.AddScriptAgents("other")
			id := resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Assignee: "intern", Text: "analyse"})).ID
			run := w.StartRun("intern")
			a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
			if state == parley.ApprovalApproved {
				w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			}
			w.EndRun(run, "I wait.")
			resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, id, "other"))
			same(t, "the approval", w.ApprovalByID(a.ID).State, parley.ApprovalWithdrawn)
			w.RunAndAnswer("other", "done")
			w.AssertTaskState(parley.TaskCompleted, id)
			if state == parley.ApprovalApproved {
				w.RunAndAnswer("senior", "fine")
			}
			w.AssertIdle("boss", "intern", "other")
			w.AssertConsistent()
		})
	}
}

// What is held before its run is given a task belongs to that task from then on.
func TestApprovalHeldBeforeTheTask(t *testing.T) {
	for name, retried := range map[string]bool{"in one run": false, "in an earlier attempt": true} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("intern", "senior", "data")
			w.AddPermission("intern", "senior", parley.EffectAllow, withApproval)
			run, _ := w.startRunInDM("intern")
			a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
			if retried {
				w.FailRunWith(run, parley.FailureStopped)
				run = w.StartRun("intern")
			}
			part := w.Delegate(run.Caller(), "data", "figures")
			root := w.TaskByID(part).Parent
			same(t, "the same call", w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?"))).ID, a.ID)
			same(t, "waited for", w.TaskByID(root).WaitsOn.Approval, a.ID)
			w.EndRun(run, "I wait.")
			w.RunAndAnswer("data", "42")
			w.RunAndAnswer("intern", "so far")
			w.AssertTaskState(parley.TaskActive, root)
			w.DecideAs(parley.Owner, a.ID, parley.Decision{Note: "no"})
			w.RunAndAnswer("intern", "done")
			w.AssertTaskState(parley.TaskCompleted, root)
			w.AssertConsistent()
		})
	}
}

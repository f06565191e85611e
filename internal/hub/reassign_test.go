package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestReassignedTaskHasNotFailed: what waits for the old assignee ends, and neither the task nor what is under it
// does.
func TestReassignedTaskHasNotFailed(t *testing.T) {
	w := newHub(t)
	w.AddAgents("boss", "arya", "gendry", "hound")
	root := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("boss"), parley.NewTask{Text: "prepare", Assignee: "arya"})).ID
	var parts []string
	for _, what := range []string{"draft", "paint"} {
		parts = append(parts, resultOf[parley.TaskView](w)(w.NewTask(ctx, as("arya"), parley.NewTask{Text: what, Assignee: "gendry", Parent: root})).ID)
	}
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("gendry"), parts[0], parley.TaskChange{Status: parley.TaskCompleted}))
	now := resultOf[parley.TaskView](w)(w.ReassignTask(ctx, as("boss"), root, "hound"))
	if now.Assignee != "hound" || now.Status != parley.TaskQueued || now.Error != nil || now.Callback != "" || now.Attempt != 2 {
		t.Errorf("it is %s of %s, attempt %d: %v, told by %q", now.Status, now.Assignee, now.Attempt, now.Error, now.Callback)
	}
	if open := resultOf[parley.TaskView](w)(w.Task(ctx, user, parts[1])); open.Status.Ended() {
		t.Errorf("what is under it is %s", open.Status)
	}
	for _, m := range resultOf[parley.Peeked](w)(w.Peek(ctx, as("boss"), 0)).Messages {
		t.Errorf("its requester is told: %s", m.Content.Text)
	}
}

// TestWorkThatIsGivenAgainIsCalledBack: what an agent was woken for is answered there, but not by somebody else.
func TestWorkThatIsGivenAgainIsCalledBack(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.SayIn("user", "open", "@boss Prepare the report")
	run := w.StartRun("boss")
	part := w.Delegate(run.Caller(), "data", "Pull figures")
	root := w.TaskByID(part).Parent
	w.EndRun(run, "wait for it")
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, root, "writer"))
	w.RunAndAnswer("data", "42")
	w.RunAndAnswer("writer", "the report")
	w.RunAndAnswer("writer", "with figures")
	w.AssertTaskState(parley.TaskCompleted, root)
	same(t, "called back", w.callbackTexts("open")[1:], []string{"[Delegation Result from writer | " + root + "]\nwith figures"})
}

// TestAssigneeOfAParentTaskIsCalledBackForItsOwnPart: it is called back for its own part, though there is nobody else to talk to.
func TestAssigneeOfAParentTaskIsCalledBackForItsOwnPart(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	root := w.Delegate(user, "boss", "Prepare the report")
	run := w.StartRun("boss")
	part := w.Delegate(run.Caller(), "data", "Pull figures")
	w.EndRun(run, "wait for it")
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, root, "data"))
	for range 3 { // the part, the whole, and what has come of the part
		w.RunAndAnswer("data", "done")
	}
	w.AssertTaskState(parley.TaskCompleted, part, root)
	w.AssertIdle("data")
}

// TestAnEarlierAttemptEndsNothing: a run that was cancelled with its task ends when the task is under way again.
func TestAnEarlierAttemptEndsNothing(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]bool{"holding the request": false, "having replied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			id := w.Delegate(user, "writer", "Draft it")
			old := w.StartRun("writer")
			if says {
				w.PostFromRun(old, parley.Draft{InReplyTo: old.Messages[0].ID, Content: text("I begin")})
			}
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, id, ""))
			resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, id))
			w.EndRun(old, "too late")
			w.AssertTaskState(parley.TaskQueued, id)
			w.RunAndAnswer("writer", "the draft")
			w.AssertTaskState(parley.TaskCompleted, id)
			same(t, "callbacks", len(w.callbackTexts(old.Run.Conversation)), 2)
		})
	}
}

// TestRunOfAFormerAssigneeDelaysNothing: the run that was at a task may take a while to end after that was given to another.
func TestRunOfAFormerAssigneeDelaysNothing(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	task := w.Delegate(user, "writer", "Draft it")
	slow := w.StartRun("writer")
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, task, "data"))
	w.RunAndAnswer("data", "done")
	w.AssertTaskState(parley.TaskCompleted, task)
	w.FailRunWith(slow, parley.FailureStopped)
	w.AssertTaskState(parley.TaskCompleted, task)
}

// TestRequesterIsWokenWhenItsTaskIsReassignedToIt: it does not know of it otherwise.
func TestRequesterIsWokenWhenItsTaskIsReassignedToIt(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddAgents("arya")
	own := w.Delegate(as("arya"), "writer", "Sew")
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, own, "arya"))
	same(t, "asked for", w.TakeAs("arya", parley.Take{}).Messages[0].Task, own)
	root := w.Delegate(user, "boss", "Prepare the report")
	run := w.StartRun("boss")
	part := w.Delegate(run.Caller(), "data", "Pull figures")
	w.EndRun(run, "wait for it")
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, part, "boss"))
	w.RunAndAnswer("boss", "I did it myself")
	w.AssertTaskState(parley.TaskCompleted, part)
	w.RunAndAnswer("boss", "the report")
	w.AssertTaskState(parley.TaskCompleted, root)
}

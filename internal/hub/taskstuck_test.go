package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// A run that has replied to the request holds nothing any more: the task ends with it all the same.
func TestARunThatHasRepliedEndsItsTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(w *fixture, run string)
		reason string
	}{
		"it fails": {func(w *fixture, run string) {
			resultOf[parley.Run](w)(w.FailRun(ctx, run, &parley.RunError{Trouble: parley.Trouble{Reason: "it broke"}}, parley.Result{}, nil))
		}, "it broke"},
		"it stumbles": {func(w *fixture, run string) {
			resultOf[parley.Run](w)(w.FailRun(ctx, run, &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureServer, Reason: "503"}}, parley.Result{}, nil))
		}, "503"},
		"it is lost": {func(w *fixture, run string) { w.NoError(w.RecoverRun(ctx, run)) }, "the hub or the program ended before the run did"},
		"it is cancelled": {func(w *fixture, run string) {
			resultOf[parley.Run](w)(w.CancelRun(ctx, user, run, "enough"))
			resultOf[parley.Run](w)(w.FinishRun(ctx, run, parley.Result{Text: "done"}, nil))
		}, "the run was cancelled: by user: enough"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			id := w.Delegate(user, "writer", "Draft it")
			run := w.StartRun("writer")
			w.PostFromRun(run, parley.Draft{InReplyTo: run.Messages[0].ID, Content: text("I begin")})
			c.end(w, run.Run.ID)
			w.AssertTaskState(parley.TaskFailed, id)
			same(t, "called back", w.callbackTexts(run.Run.Conversation),
				[]string{"[Delegation Failed | writer | " + id + "]\nError: writer failed to complete the task: " + c.reason})
		})
	}
}

// Work that goes on has not failed with one of its runs.
func TestAFailedRunLeavesATaskThatGoesOn(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	id := w.Delegate(user, "writer", "Draft it")
	run := w.StartRun("writer")
	w.Delegate(run.Caller(), "data", "Pull figures")
	w.PostFromRun(run, parley.Draft{InReplyTo: run.Messages[0].ID, Content: text("I begin")})
	w.FailRunWith(run, parley.FailureFinal)
	w.AssertTaskState(parley.TaskActive, id)
	w.RunAndAnswer("data", "42")
	w.RunAndAnswer("writer", "the draft")
	w.AssertTaskState(parley.TaskCompleted, id)
}

// What was deleted with its conversation comes to nobody: who waits for it is told.
func TestTasksEndWithTheirConversation(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *fixture){
		"queued":  func(*fixture) {},
		"running": func(w *fixture) { w.StartRun("writer") },
		"with a result that nobody has read": func(w *fixture) {
			run := w.StartRun("writer")
			w.Delegate(run.Caller(), "data", "Pull figures")
			w.EndRun(run, "wait for it")
			w.RunAndAnswer("data", "42")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			run, id := w.delegateDraftAsBoss()
			w.EndRun(run, "wait for it")
			begin(w)
			w.NoError(w.DeleteConversation(ctx, user, w.TaskByID(id).Conversation))
			w.AssertTaskState(parley.TaskFailed, id)
			same(t, "called back", w.callbackTexts("open"),
				[]string{"[Delegation Failed | writer | " + id + "]\nError: writer failed to complete the task: its conversation was deleted"})
			w.RunAndAnswer("boss", "it could not be done")
			w.AssertIdle("boss", "writer", "data")
		})
	}
}

// What is under a task goes on when the conversation of the task is gone, and so does the task.
func TestResultsFindTheirWayWithoutTheConversation(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	run, id := w.delegateDraftAsBoss()
	w.EndRun(run, "wait for it")
	root := w.TaskByID(id).Parent
	w.NoError(w.DeleteConversation(ctx, user, "open"))
	w.AssertTaskState(parley.TaskActive, root)
	w.RunAndAnswer("writer", "the draft")
	next := w.StartRun("boss")
	same(t, "its task", next.Run.Task, root)
	w.EndRun(next, "the report")
	w.AssertTaskState(parley.TaskCompleted, root)
}

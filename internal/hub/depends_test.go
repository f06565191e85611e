package hub_test

import (
	"slices"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// What waits for others and was given to somebody else is asked for where that one reads, and only there.
func TestReassignedWaitingTaskIsRequestedFromItsNewAssignee(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	first := w.Delegate(user, "data", "figures")
	then := w.Delegate(user, "writer", "a text", afterTasks(first))
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, then, "boss"))
	w.AssertIdle("boss", "writer")
	w.RunAndAnswer("data", "42")
	w.AssertIdle("writer")
	run := w.StartRun("boss")
	same(t, "asked for", []string{run.Run.Task, run.Run.Conversation}, []string{then, w.DMBetween("user", "boss")})
	w.EndRun(run, "done")
	w.AssertTaskState(parley.TaskCompleted, then)
	w.AssertConsistent()
}

// Who has no runs is handed it, and may speak of it where it was asked for.
func TestReassignedWaitingTaskReachesAPollingAgent(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	first := w.Delegate(user, "data", "figures")
	then := w.Delegate(user, "writer", "a text", afterTasks(first))
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, then, "ned"))
	w.RunAndAnswer("data", "42")
	request := w.TakeAs("ned", parley.Take{}).Messages[0]
	w.PostAs("ned", parley.Draft{InReplyTo: request.ID, Type: "task_result", Content: text("done")})
	w.AssertTaskState(parley.TaskCompleted, then)
	w.AssertConsistent()
}

// What somebody says of a task, or in it, before it may begin does not begin it, and does not end it.
func TestMessagesAboutAWaitingTaskDoNotBeginIt(t *testing.T) {
	t.Parallel()
	for name, speak := range map[string]func(w *fixture, task string){
		"progress": func(w *fixture, task string) {
			change := parley.TaskChange{Progress: &parley.TaskProgress{Message: "I know of it"}}
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("writer"), task, change))
			same(w.T, "said", w.TaskByID(task).Progress.Message, "I know of it")
		},
		"a run": func(w *fixture, task string) {
			w.PostAs("user", parley.Draft{Direct: []string{"writer"}, Task: task, Content: text("get ready")})
			w.RunAndAnswer("writer", "I am")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			first := w.Delegate(user, "data", "figures")
			then := w.Delegate(user, "writer", "a text", afterTasks(first))
			speak(w, then)
			w.AssertTaskState(parley.TaskQueued, then)
			w.RunAndAnswer("data", "42")
			w.RunAndAnswer("writer", "the text")
			w.AssertTaskState(parley.TaskCompleted, then)
			same(t, "result", w.TaskByID(then).Result.Text, "the text")
			w.AssertConsistent()
		})
	}
}

// An agent that has runs is woken for its own task once that may begin, and then for the one above it.
func TestAgentIsWokenForItsOwnWaitingTask(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	first := w.Delegate(as("boss"), "data", "figures")
	root := w.Delegate(user, "boss", "Prepare the report")
	run := w.StartRun("boss")
	own := resultOf[parley.TaskView](w)(w.NewTask(ctx, run.Caller(), parley.NewTask{Text: "sum up", DependsOn: []string{first}})).ID
	w.EndRun(run, "later")
	w.RunAndAnswer("data", "42")
	for range 3 { // the figures, the sum, and what has come of that
		w.RunAndAnswer("boss", "done")
	}
	w.AssertTaskState(parley.TaskCompleted, own, root)
	w.AssertIdle("boss")
	w.AssertConsistent()
}

// Who fetches for itself is asked too, unless it has seen to it itself.
func TestPollingAgentIsAskedForItsOwnTaskUnlessItKnows(t *testing.T) {
	t.Parallel()
	for assignee, asked := range map[string]int{"data": 1, "ned": 0} {
		t.Run("after a task of "+assignee, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			w.AddPollingAgents("ned")
			first := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ned"), parley.NewTask{Text: "figures", Assignee: assignee})).ID
			own := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ned"), parley.NewTask{Text: "sum up", DependsOn: []string{first}})).ID
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as(assignee), first, parley.TaskChange{Status: parley.TaskCompleted}))
			got := w.TakeAs("ned", parley.Take{Seen: true}).Messages
			n := len(slices.DeleteFunc(got, func(m parley.Message) bool { return m.Task != own }))
			same(t, "requests", n, asked)
			w.AssertTaskState(parley.TaskActive, own)
			w.AssertConsistent()
		})
	}
}

// Nobody talks to itself, nor is told what it knows: its own task is asked for by the hub, and called back to nobody.
func TestTheHubRequestsAnAgentsOwnTask(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(w *fixture) string{
		"retried": func(w *fixture) string {
			own := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("boss"), parley.NewTask{Text: "sum up"})).ID
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("boss"), own, parley.TaskChange{Status: parley.TaskFailed}))
			resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, own))
			return own
		},
		"given back": func(w *fixture) string {
			id := w.Delegate(as("boss"), "writer", "sum up")
			resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, id, "boss"))
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			own := give(w)
			run := w.StartRun("boss")
			same(t, "where", run.Run.Conversation, w.DMBetween("boss", parley.System))
			w.EndRun(run, "done")
			w.AssertTaskState(parley.TaskCompleted, own)
			w.AssertIdle("boss")
			w.AssertConsistent()
		})
	}
}

// What is only told of a task that waits does not begin it.
func TestProgressOfASubtaskDoesNotBeginAWaitingTask(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	first := w.Delegate(user, "data", "figures")
	then := w.Delegate(user, "ned", "a text", afterTasks(first))
	part := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ned"), parley.NewTask{Assignee: "writer", Text: "an outline", Parent: then})).ID
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("writer"), part, parley.TaskChange{Progress: &parley.TaskProgress{Blockers: []string{"no paper"}}}))
	w.TakeAs("ned", parley.Take{Seen: true})
	w.AssertTaskState(parley.TaskQueued, then)
	w.RunAndAnswer("data", "42")
	same(t, "asked for", w.DeliveryState(w.TaskByID(then).Message, "ned"), parley.DeliveryAccepted)
	w.AssertConsistent()
}

// One's own task that is given away while it waits is called back as any other.
func TestOwnTaskGivenAwayIsCalledBack(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	first := w.Delegate(user, "data", "figures")
	own := resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Text: "sum up", DependsOn: []string{first}})).ID
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, own, "ned"))
	w.FailRunWith(w.StartRun("data"), parley.FailureFinal)
	w.AssertTaskState(parley.TaskFailed, own)
	if w.TaskByID(own).Callback == "" {
		t.Error("nobody is called back")
	}
	w.AssertConsistent()
}

// Who takes up its own task again needs no conversation for it.
func TestRetryOfAnOwnTaskOpensNoConversation(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	own := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ned"), parley.NewTask{Text: "sum up"})).ID
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, as("ned"), own, ""))
	resultOf[parley.TaskView](w)(w.RetryTask(ctx, as("ned"), own))
	var opened []parley.Conversation
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		opened, err = tx.Conversations().List(storage.ConversationFilter{Member: "ned", Limit: 1})
		return err
	}))
	same(t, "opened", len(opened), 0)
}

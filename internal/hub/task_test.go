package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// delegateDraftAsBoss wakes boss, which delegates to writer. It returns the run of boss, which is still live, and the task.
func (w *fixture) delegateDraftAsBoss(change ...func(*parley.Contact)) (run *hub.Assignment, task string) {
	w.T.Helper()
	w.SayIn("user", "open", "@boss Prepare the report")
	run = w.StartRun("boss")
	return run, w.Delegate(run.Caller(), "writer", "Draft it", change...)
}

func afterTasks(ids ...string) func(*parley.Contact) {
	return func(c *parley.Contact) { c.After = ids }
}

// callbackTexts returns the texts of the callbacks in a conversation, in order.
func (w *fixture) callbackTexts(conversation string) (texts []string) {
	w.T.Helper()
	for _, m := range w.historyAs("user", conversation) {
		if m.Source == "delegation_result" {
			texts = append(texts, m.Content.Text)
		}
	}
	return texts
}

func (w *fixture) historyAs(as1, conversation string) []parley.Message {
	w.T.Helper()
	return resultOf[[]parley.Message](w)(w.History(ctx, as(as1), conversation, parley.Page{Limit: 500}))
}

// newTeam returns a hub with a channel of the user and boss. The hub runs boss, writer and data.
func newTeam(t *testing.T) *fixture {
	t.Helper()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("boss", "writer", "data")
	w.CreateChannel("user", "open", "boss")
	return w
}

// Results come back one by one, in the same task, which is completed with the last run.
func TestDelegationsComeBackInTheSameTask(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	asked := w.SayIn("user", "open", "@boss Prepare the report\nwith figures").Message
	run := w.StartRun("boss")
	made := resultOf[parley.Contacted](w)(w.Contact(ctx, run.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "writer", Message: "Draft it"}))
	same(t, "text", made.Text, "Delegated to writer (subtask "+made.Task+"). You'll receive the result automatically when writer finishes.")
	one, two := made.Task, w.Delegate(run.Caller(), "data", "Pull figures")
	root := w.TaskByID(w.TaskByID(one).Parent)
	same(t, "the task it was given", []string{root.Title, root.Requester, root.Assignee, root.Source, root.Message},
		[]string{"@boss Prepare the report", "user", "boss", "test", asked.ID})
	w.EndRun(run, "wait for it")
	w.AssertTaskState(parley.TaskActive, root.ID)
	view := resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "boss"))
	same(t, "status", []any{view.Status, view.DelegationIDs}, []any{parley.StatusAwaitingDelegation, []string{one, two}})
	w.AssertIdle("boss")

	w.RunAndAnswer("writer", "the draft")
	w.AssertTaskState(parley.TaskCompleted, one)
	same(t, "called back", w.callbackTexts("open"), []string{"[Delegation Result from writer | " + one + "]\nthe draft"})
	next := w.StartRun("boss")
	same(t, "its task", next.Run.Task, root.ID)
	w.RunAndAnswer("data", "42") // while it runs: joins its next run
	w.EndRun(next, "half")
	w.AssertTaskState(parley.TaskActive, root.ID)
	last := w.StartRun("boss")
	same(t, "its task", last.Run.Task, root.ID)
	answer := w.EndRun(last, "the report")
	m := resultOf[parley.Shown](w)(w.Message(ctx, user, answer.Answer))
	same(t, "answers", []string{m.InReplyTo, m.To, m.Task}, []string{asked.ID, "user", root.ID})
	same(t, "the end", w.TaskByID(root.ID).Result, &parley.TaskResult{Text: "the report"})
	w.AssertTaskState(parley.TaskCompleted, root.ID)
	w.AssertIdle("boss", "writer", "data")
	w.AssertConsistent()
}

func TestFailedWorkIsCalledBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(w *fixture, id string)
		state  parley.TaskState
		reason string
		code   parley.Code
	}{
		"its run fails":   {func(w *fixture, _ string) { w.FailRunWith(w.StartRun("writer"), parley.FailureFinal) }, parley.TaskFailed, "it broke", parley.DependencyFailed},
		"it is cancelled": {func(w *fixture, id string) { resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, id, "no need")) }, parley.TaskCancelled, "cancelled: no need", parley.Unavailable},
		"removed":         {func(w *fixture, _ string) { w.NoError(w.RemoveAgent(ctx, user, "writer")) }, parley.TaskFailed, "removed", parley.Unavailable},
		"its deadline passes": {func(w *fixture, _ string) {
			w.Clock.Advance(2 * time.Hour)
			w.NoError(w.SweepTasks(ctx))
		}, parley.TaskFailed, "its deadline passed", parley.TimedOut},
		"it says so": {func(w *fixture, id string) {
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("writer"), id, parley.TaskChange{Status: parley.TaskFailed, Reason: "cannot"}))
		}, parley.TaskFailed, "cannot", parley.DependencyFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			due := w.Clock.Now().Add(time.Hour)
			run, id := w.delegateDraftAsBoss(func(c *parley.Contact) { c.Deadline = &due })
			w.EndRun(run, "")
			c.end(w, id)
			w.AssertTaskState(c.state, id)
			same(t, "code", w.TaskByID(id).Error.Code, c.code)
			same(t, "called back", w.callbackTexts("open"), []string{
				"[Delegation Failed | writer | " + id + "]\nError: writer failed to complete the task: " + c.reason,
			})
			again := w.StartRun("boss")
			w.EndRun(again, "then not")
			w.AssertTaskState(parley.TaskCompleted, again.Run.Task)
			w.AssertIdle("boss", "writer")
			w.AssertConsistent()
		})
	}
}

// A task that ends badly takes all under it with it: their runs end, and nobody is woken for them.
func TestCancelGoesDown(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.SayIn("user", "open", "@boss")
	run := w.StartRun("boss")
	mid := w.Delegate(run.Caller(), "writer", "a book")
	root := w.TaskByID(mid).Parent
	below := w.StartRun("writer")
	leaf := w.Delegate(below.Caller(), "data", "figures")
	late := w.Delegate(below.Caller(), "data", "more", afterTasks(leaf))
	working := w.StartRun("data")
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, root, "enough"))
	w.AssertTaskState(parley.TaskCancelled, root, mid, leaf, late)
	for _, a := range []*hub.Assignment{run, below, working} {
		if w.RunByID(a.Run.ID).Cancel == "" {
			t.Errorf("the run of %s goes on", a.Run.Agent)
		}
		w.EndRun(a, "never")
	}
	for _, id := range []string{mid, leaf, late} {
		if w.TaskByID(id).Callback == "" {
			t.Errorf("of %s nothing was posted", id)
		}
	}
	w.AssertIdle("boss", "writer", "data")
	w.AssertConsistent()
}

// Who has taken a request without having begun is told that it need not, and is not given it again. It may still say
// that it is done with it.
func TestAssigneeLearnsThatItsTakenRequestIsNotWanted(t *testing.T) {
	t.Parallel()
	cancel := func(w *fixture, id string) { resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, id, "enough")) }
	reassign := func(w *fixture, id string) { resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, id, "writer")) }
	lapse := func(w *fixture, _ parley.Taken) { w.AdvanceLeases(time.Hour) }
	giveBack := func(w *fixture, taken parley.Taken) { w.NackTaken("ned", taken, parley.FailureBusy) }
	ack := func(w *fixture, taken parley.Taken) { w.AckAs("ned", taken.Messages[0].ID) }
	for name, c := range map[string]struct {
		stop func(w *fixture, id string)
		end  func(w *fixture, taken parley.Taken)
		says string
		ends parley.DeliveryState
	}{
		"cancelled, and it is gone":       {cancel, lapse, " is cancelled: enough", parley.DeliveryFailed},
		"cancelled, and it gives it back": {cancel, giveBack, " is cancelled: enough", parley.DeliveryFailed},
		"cancelled, and it is done":       {cancel, ack, " is cancelled: enough", parley.DeliveryAcked},
		"reassigned, and it is gone":      {reassign, lapse, " was reassigned to writer", parley.DeliveryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			w.AddPollingAgents("ned")
			id := w.Delegate(user, "ned", "look at it")
			taken := w.TakeAs("ned", parley.Take{})
			c.stop(w, id)
			same(t, "told", textsOf(w.HubMessagesTo("ned")), []string{id + c.says})
			c.end(w, taken)
			same(t, "ends", w.DeliveryState(taken.Messages[0].ID, "ned"), c.ends)
			w.AdvanceLeases(time.Hour)
			told := w.TakeAs("ned", parley.Take{})
			same(t, "takes", textsOf(told.Messages), []string{id + c.says})
			w.AdvanceLeases(time.Hour)
			w.AdvanceLeases(time.Hour)
			same(t, "until it has seen it", w.TakeTexts("ned", parley.Take{}), textsOf(told.Messages))
			w.AssertConsistent()
		})
	}
}

// A request is answered by the end of its task, whether its assignee has taken it or not, and is not given again.
func TestTheEndOfATaskAnswersItsRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken bool
		said  parley.TaskChange
		ends  parley.DeliveryState
	}{
		"completed":            {false, parley.TaskChange{Status: parley.TaskCompleted}, parley.DeliveryAnswered},
		"given up":             {false, parley.TaskChange{Status: parley.TaskFailed, Reason: "cannot"}, parley.DeliveryAnswered},
		"taken, and completed": {true, parley.TaskChange{Status: parley.TaskCompleted}, parley.DeliveryAnswered},
		"taken, and given up":  {true, parley.TaskChange{Status: parley.TaskFailed, Reason: "cannot"}, parley.DeliveryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			w.AddPollingAgents("ned")
			id := w.Delegate(user, "ned", "look at it")
			if c.taken {
				w.TakeAs("ned", parley.Take{})
			}
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ned"), id, c.said))
			w.AdvanceLeases(time.Hour)
			same(t, "its request", w.DeliveryState(w.TaskByID(id).Message, "ned"), c.ends)
			same(t, "takes", w.TakeTexts("ned", parley.Take{}), []string{})
			w.AssertConsistent()
		})
	}
}

// Who has taken a request may still say that it is done with it, and answer it, after it has ended the task.
func TestARequestInHandStaysThere(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	id := w.Delegate(user, "ned", "look at it")
	taken := w.TakeAs("ned", parley.Take{})
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ned"), id, parley.TaskChange{Status: parley.TaskCompleted}))
	w.NoError(errorOf(w.Settle(ctx, as("ned"), taken.Lease, parley.Outcome{})))
	request := taken.Messages[0].ID
	answer := w.ReplyAs("ned", request, "done").Message.ID
	same(t, "answer", w.DeliveryOf(request, "ned").Answer, answer)
	w.AssertConsistent()
}

// A run that is lost after it has completed its task is not started again for it.
func TestALostRunOfACompletedTaskIsOver(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	id := w.Delegate(user, "boss", "look at it")
	run := w.StartRun("boss")
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, run.Caller(), id, parley.TaskChange{Status: parley.TaskCompleted}))
	w.FailRunWith(run, parley.FailureLost)
	w.AdvanceLeases(time.Hour)
	w.AssertIdle("boss")
	same(t, "its request", w.DeliveryState(w.TaskByID(id).Message, "boss"), parley.DeliveryAnswered)
	w.AssertConsistent()
}

// The answer to an ask is its asker's, whatever has become of the task: a run that fails with it is tried again.
func TestALateAnswerIsRetried(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.AddScriptAgents("boss", "senior")
	id := w.Delegate(user, "boss", "look at it")
	run := w.StartRun("boss")
	w.beginAsk(run.Caller(), "senior", "well?").resultText()
	w.EndRun(run, "done")
	w.AssertTaskState(parley.TaskCompleted, id)
	w.RunAndAnswer("senior", "fine")
	brought := []string{"Response from senior: fine"}
	again := w.StartRun("boss")
	same(t, "brought", textsOf(again.Messages), brought)
	w.FailRunWith(again, parley.FailureServer)
	w.AdvanceLeases(time.Hour)
	same(t, "brought again", textsOf(w.StartRun("boss").Messages), brought)
}

// Nothing under a task may take longer than the task: what passes its deadline fails and takes all under it along.
func TestDeadlinesGoDown(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	due, later := w.Clock.Now().Add(time.Hour), w.Clock.Now().Add(3*time.Hour)
	by := func(at time.Time) func(*parley.Contact) { return func(c *parley.Contact) { c.Deadline = &at } }
	top := w.Delegate(user, "boss", "a book", by(due))
	run := w.StartRun("boss")
	mid := w.Delegate(run.Caller(), "writer", "a chapter", by(later))
	below := w.StartRun("writer")
	leaf := w.Delegate(below.Caller(), "data", "figures")
	for _, id := range []string{mid, leaf} {
		if got := w.TaskByID(id).Deadline; got == nil || !got.Equal(due) {
			t.Errorf("%s is due %v, want %v", id, got, due)
		}
	}
	w.Clock.Advance(2 * time.Hour)
	w.NoError(w.SweepTasks(ctx))
	w.AssertTaskState(parley.TaskFailed, top)
	same(t, "code", w.TaskByID(top).Error.Code, parley.TimedOut)
	for _, id := range []string{mid, leaf} {
		if got := w.TaskByID(id); !got.Status.Ended() {
			t.Errorf("%s is still %s", id, got.Status)
		}
	}
	w.EndRun(run, "too late")
	w.EndRun(below, "too late")
	w.AssertIdle("boss", "writer", "data")
	w.AssertConsistent()
}

func TestDependentsWait(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	first := w.Delegate(user, "data", "figures")
	then := w.Delegate(user, "writer", "a text", afterTasks(first))
	w.AssertIdle("writer")
	same(t, "waits on", w.TaskByID(then).WaitsOn.After, []string{first})
	w.RunAndAnswer("data", "42")
	next := w.StartRun("writer")
	c := resultOf[parley.RunContext](w)(w.RunContext(ctx, next.Run.ID))
	same(t, "of it the result", c.Needed, []parley.Task{{
		ID: first, Status: parley.TaskCompleted, Outcome: parley.OutcomeSuccess, Result: &parley.TaskResult{Text: "42"},
	}})
	same(t, "its task", c.Task.ID, then)
	w.EndRun(next, "done")
	w.AssertTaskState(parley.TaskCompleted, first, then)
	done := refusalError(parley.BadInput, parley.Conflict, first+" is completed already", "request the rest as another task")
	w.assertRefusals(t, []refusal{
		{"completed, and again", func() error { _, err := w.RetryTask(ctx, user, first); return err }, done},
		{"completed, and for another", func() error { _, err := w.ReassignTask(ctx, user, first, "writer"); return err }, done},
	})

	first = w.Delegate(user, "data", "figures")
	then = w.Delegate(user, "writer", "a text", afterTasks(first))
	w.FailRunWith(w.StartRun("data"), parley.FailureFinal)
	w.AssertTaskState(parley.TaskFailed, first, then)
	same(t, "code", w.TaskByID(then).Error.Code, parley.DependencyFailed)
	w.AssertIdle("writer")
	w.assertRefusals(t, []refusal{
		{"an unknown one", w.tryDelegate(user, "writer", afterTasks("task-999")), notFoundError("task", "task-999", checkName)},
		{"one that failed", w.tryDelegate(user, "writer", afterTasks(first)), refusalError(parley.DependencyFailed, "", "Error: the task depends on "+first+", which is failed",
			"retry that task first: parley task retry "+first)},
	})
}

func (w *fixture) tryDelegate(by hub.Caller, to string, change ...func(*parley.Contact)) func() error {
	return func() error {
		c := parley.Contact{Pattern: parley.PatternDelegate, Agent: to, Message: "do it"}
		for _, f := range change {
			f(&c)
		}
		_, err := w.Contact(ctx, by, c)
		return err
	}
}

// What waits for what is under it cannot be waited for from there.
func TestDependencyCyclesAreRefused(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.SayIn("user", "open", "@boss")
	run := w.StartRun("boss")
	sub := w.Delegate(run.Caller(), "writer", "one")
	root := w.TaskByID(sub).Parent
	other := w.Delegate(user, "data", "needs all of it", afterTasks(root))
	_ = other
	below := w.StartRun("writer")
	err := w.tryDelegate(below.Caller(), "data", afterTasks(sub))()
	same(t, "its own task", parley.CodeOf(err), parley.BadInput)
	err = w.tryDelegate(run.Caller(), "data", afterTasks(root))()
	if err == nil || !strings.Contains(err.Error(), "the new task → "+root+" → the new task") {
		t.Errorf("the root: %v", err)
	}
}

func TestTreesAreBounded(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("even", "odd")
	for _, id := range []string{"even", "odd"} {
		w.EditAgent(id, func(a *parley.Agent) { a.Concurrency = 2 * parley.MaxTaskDepth })
	}
	w.SendDM("user", "even", "begin")
	agents := []string{"even", "odd"}
	for depth := range parley.MaxTaskDepth {
		w.Delegate(w.StartRun(agents[depth%2]).Caller(), agents[(depth+1)%2], "further")
	}
	err := w.tryDelegate(w.StartRun(agents[parley.MaxTaskDepth%2]).Caller(), agents[(parley.MaxTaskDepth+1)%2])()
	same(t, "code", parley.CodeOf(err), parley.DependencyFailed)
	if !strings.Contains(err.Error(), "9 levels deep, the limit is 8") {
		t.Errorf("refused by %v", err)
	}
}

// Foreign tasks look like none, and what is above a task is not shown with it.
func TestTasksAreIsolated(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddScriptAgents("arya")
	w.SayIn("user", "open", "@boss")
	run := w.StartRun("boss")
	sub := w.Delegate(run.Caller(), "writer", "secret")
	root := w.TaskByID(sub).Parent
	for _, c := range []struct {
		by   string
		sees []string
	}{{"user", []string{sub, root}}, {"boss", []string{sub, root}}, {"writer", []string{sub}}, {"arya", nil}, {"data", nil}} {
		var listed []string
		for _, view := range resultOf[[]parley.TaskView](w)(w.Tasks(ctx, as(c.by), parley.TaskFilter{})) {
			listed = append(listed, view.ID)
		}
		same(t, c.by+" lists", listed, c.sees)
		for _, id := range []string{sub, root} {
			_, err := w.TaskTree(ctx, as(c.by), id)
			same(t, c.by+" sees "+id, err == nil, slices.Contains(c.sees, id))
			_, err = w.CancelTask(ctx, as(c.by), id, "")
			if !slices.Contains(c.sees, id) {
				same(t, c.by+" cancels "+id, parley.AsError(err).Reason, parley.NotFound)
			}
			if c.by == "user" {
				break // that was all it takes
			}
		}
		if c.by == "user" {
			w = newTeam(t)
			w.AddScriptAgents("arya")
			w.SayIn("user", "open", "@boss")
			run = w.StartRun("boss")
			sub = w.Delegate(run.Caller(), "writer", "secret")
			root = w.TaskByID(sub).Parent
		}
	}
	view := resultOf[parley.TaskView](w)(w.Task(ctx, as("writer"), sub))
	same(t, "above it", []string{view.Parent, view.Root, view.CallbackTo}, []string{"", sub, ""})
}

func TestOnlyTheAssigneesWordCounts(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.AddPollingAgents("ned")
	id := w.Delegate(as("ned"), "writer", "a text")
	half := 0.5
	_, err := w.UpdateTask(ctx, as("ned"), id, parley.TaskChange{Progress: &parley.TaskProgress{Fraction: &half}})
	same(t, "its requester", parley.CodeOf(err), parley.NotPermitted)
	_, err = w.CancelTask(ctx, as("writer"), id, "")
	same(t, "its assignee cancels", parley.CodeOf(err), parley.NotPermitted)
	_, err = w.UpdateTask(ctx, as("data"), id, parley.TaskChange{Status: parley.TaskCompleted})
	same(t, "a stranger", parley.AsError(err).Reason, parley.NotFound)
	view := resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("writer"), id, parley.TaskChange{Progress: &parley.TaskProgress{Fraction: &half, Blockers: []string{"no paper"}}}))
	same(t, "progress", []any{view.Status, *view.Progress.Fraction}, []any{parley.TaskActive, half})
	view = resultOf[parley.TaskView](w)(w.UpdateTask(ctx, user, id, parley.TaskChange{Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, Result: &parley.TaskResult{Text: "some"}}))
	same(t, "an owner", []any{view.Status, view.Outcome}, []any{parley.TaskCompleted, parley.OutcomePartial})
	same(t, "said", w.TextsIn("user", view.Conversation)[1:], []string{
		"writer is blocked on " + id + ": no paper", "[Delegation Result from writer | " + id + " | partial]\nsome",
	})
	w.AssertIdle("writer")
}

func TestRetryAndReassign(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	id := w.Delegate(user, "writer", "a text")
	run := w.StartRun("writer")
	view := resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, id, "data"))
	same(t, "reassigned", []any{view.Assignee, view.Attempt, view.Status}, []any{"data", 2, parley.TaskQueued})
	w.EndRun(run, "too late")
	w.AssertTaskState(parley.TaskQueued, id)
	w.FailRunWith(w.StartRun("data"), parley.FailureFinal)
	w.AssertTaskState(parley.TaskFailed, id)
	_, err := w.RetryTask(ctx, as("data"), id)
	same(t, "its assignee", parley.CodeOf(err), parley.NotPermitted)
	view = resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, id))
	same(t, "retried", []any{view.Attempt, view.Status, view.Error == nil}, []any{3, parley.TaskQueued, true})
	answer := w.RunAndAnswer("data", "a text at last")
	same(t, "answers", answer.InReplyTo, view.Message)
	w.AssertTaskState(parley.TaskCompleted, id)
	if !strings.Contains(w.TextsIn("user", view.Conversation)[0], "a text") {
		t.Error("the request does not say what is wanted")
	}
	w.AssertIdle("writer", "data")
	w.AssertConsistent()
}

// The same call makes one task of one's own: with the same key, or in a later attempt of the run.
func TestARepeatedCallMakesOneOwnTask(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	sew := func(by hub.Caller, key string) string {
		return resultOf[parley.TaskView](w)(w.NewTask(ctx, by, parley.NewTask{Text: "sew", IdempotencyKey: key})).ID
	}
	first := sew(as("boss"), "k")
	same(t, "again", sew(as("boss"), "k"), first)
	same(t, "by name", resultOf[parley.TaskView](w)(w.NewTask(ctx, as("boss"), parley.NewTask{Text: "sew", Assignee: "boss", IdempotencyKey: "k"})).ID, first)
	if other := sew(as("data"), "k"); other == first {
		t.Error("a key is its user's own")
	}
	if one, other := sew(as("boss"), ""), sew(as("boss"), ""); one == other {
		t.Error("without a key it is another task")
	}
	taken := func(key string) *parley.Error {
		return refusalError(parley.BadInput, parley.Conflict, `the idempotency key "`+key+`" was used for another call`, "use another key")
	}
	w.PostAs("boss", parley.Draft{Conversation: "open", Content: text("hello"), IdempotencyKey: "said"})
	w.assertRefusals(t, []refusal{
		{"the key of a message", func() error {
			return errorOf(w.NewTask(ctx, as("boss"), parley.NewTask{Text: "sew", IdempotencyKey: "said"}))
		}, taken("said")},
		{"a message with its key", func() error {
			return errorOf(w.Post(ctx, as("boss"), parley.Draft{Conversation: "open", Content: text("hello"), IdempotencyKey: "k"}))
		}, taken("k")},
		{"a delegation with its key", w.tryDelegate(as("boss"), "data", func(c *parley.Contact) { c.IdempotencyKey = "k" }), taken("k")},
	})
	w.Clock.Advance(25 * time.Hour)
	if sew(as("boss"), "k") == first {
		t.Error("a key is remembered for ever")
	}
	w.AssertConsistent()
}

func TestALaterAttemptMakesNoSecondTaskOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.Delegate(user, "boss", "Prepare the report")
	try := func(times int) (ids []string) {
		run := w.StartRun("boss")
		for range times {
			ids = append(ids, resultOf[parley.TaskView](w)(w.NewTask(ctx, run.Caller(), parley.NewTask{Text: "sum up"})).ID)
		}
		w.FailRunWith(run, parley.FailureServer)
		w.AdvanceLeases(time.Hour)
		return ids
	}
	first := try(2)
	same(t, "two are two", first[0] == first[1], false)
	again := try(3)
	same(t, "the same", again[:2], first)
	same(t, "and one more", slices.Contains(first, again[2]), false)
	same(t, "of both", try(3), again)
	w.AssertConsistent()
}

// Who has no runs ends its tasks by its word; what it replies is progress.
// A person who puts the dead letter of a task back revives the task, which ends again and is called back again.
func TestADeadLetterRevivesItsTask(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.EditAgent("writer", func(a *parley.Agent) { a.Attempts = 1 })
	id := w.Delegate(user, "writer", "a text")
	w.FailRunWith(w.StartRun("writer"), parley.FailureServer)
	w.AssertTaskState(parley.TaskFailed, id)
	dead := resultOf[[]parley.Delivery](w)(w.DeadLetters(ctx, user, 0, 10))
	same(t, "dead letters", len(dead), 1)
	resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, dead[0].Message, ""))
	w.AssertTaskState(parley.TaskQueued, id)
	w.RunAndAnswer("writer", "a text at last")
	w.AssertTaskState(parley.TaskCompleted, id)
	same(t, "called back", w.callbackTexts(w.TaskByID(id).Conversation), []string{
		"[Delegation Failed | writer | " + id + "]\nError: writer failed to complete the task: it broke",
		"[Delegation Result from writer | " + id + "]\na text at last",
	})
	w.AssertIdle("writer")
	w.AssertConsistent()
}

func TestAttachedAssigneesEndTheirTasks(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("boss")
	w.AddPollingAgents("ned")
	w.SendDM("user", "boss", "begin")
	run := w.StartRun("boss")
	id := w.Delegate(run.Caller(), "ned", "look at it")
	w.EndRun(run, "")
	request := w.TaskByID(id).Message
	w.TakeAs("ned", parley.Take{Seen: true})
	w.AssertTaskState(parley.TaskActive, id)
	w.PostAs("ned", parley.Draft{InReplyTo: request, Content: text("looking")})
	same(t, "progress", w.TaskByID(id).Progress.Message, "looking")
	w.WokenAgents("boss") // it is a message like any other
	w.PostAs("ned", parley.Draft{InReplyTo: request, Type: "task_result", Content: text("all is well")})
	w.AssertTaskState(parley.TaskCompleted, id)
	same(t, "result", w.TaskByID(id).Result.Text, "all is well")
}

func TestMessagesBeginAndEndTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin parley.Draft
		title string
		says  []parley.Draft
		check func(t *testing.T, v parley.TaskView)
	}{
		"S0": {
			begin: parley.Draft{Type: "task_assign", Content: text("sort the bags")}, title: "sort the bags",
			says:  []parley.Draft{{Type: "task_result", Content: text("sorted")}},
			check: func(t *testing.T, v parley.TaskView) { same(t, "result", v.Result.Text, "sorted") },
		},
		"S1": {
			begin: parley.Draft{Type: parley.TypeRequest, Payload: []byte(`{"action":"task.assign","params":{"text":"build it"}}`)}, title: "build it",
			says: []parley.Draft{
				{Type: parley.TypeNotification, Payload: []byte(`{"event":"progress","message":"on it","progress":{"current":3,"total":10,"percent":30}}`)},
				{Type: parley.TypeResponse, Payload: []byte(`{"status":"partial","result":{"message":"half of it"}}`)},
			},
			check: func(t *testing.T, v parley.TaskView) {
				same(t, "end", []any{v.Outcome, v.Result.Text, *v.Progress.Fraction, *v.Progress.Total}, []any{parley.OutcomePartial, "half of it", 0.3, int64(10)})
			},
		},
		"S1 error": {
			begin: parley.Draft{Type: parley.TypeRequest, Payload: []byte(`{"action":"task.assign","params":{"text":"build it"}}`)}, title: "build it",
			says:  []parley.Draft{{Type: parley.TypeError, Payload: []byte(`{"code":"E002","message":"no bricks","recoverable":true}`)}},
			check: func(t *testing.T, v parley.TaskView) { same(t, "error", v.Error.Message, "no bricks") },
		},
		"S3": {
			begin: parley.Draft{Type: "task-delegation", Payload: []byte(`{"task":"audit it","context":{"files":[],"dependencies":["msg_b4e2a7c1"]},"metadata":{"original_requester":"boss","delegation_reason":"knows it"}}`)},
			title: "audit it",
			says: []parley.Draft{
				{Type: "status-update", Payload: []byte(`{"status":"in_progress","progress":0.65,"message":"testing","confidence":0.8,"blockers":[]}`)},
				{Type: parley.TypeResult, Payload: []byte(`{"status":"success","deliverables":{"files_modified":["/a"],"tests_added":["/b"],"artifacts":[]},"metrics":{"confidence":0.88},"issues":["one"],"next_steps":["two"]}`)},
			},
			check: func(t *testing.T, v parley.TaskView) {
				same(t, "result", v.Result, &parley.TaskResult{
					Deliverables: []string{"/a", "/b"}, Metrics: map[string]float64{"confidence": 0.88}, Issues: []string{"one"}, NextSteps: []string{"two"},
					Payload: []byte(`{"deliverables":{"files_modified":["/a"],"tests_added":["/b"],"artifacts":[]},"metrics":{"confidence":0.88}}`),
				})
				same(t, "who and why", []string{v.OriginalRequester, v.DelegationReason}, []string{"boss", "knows it"})
			},
		},
		"S3, as it arrives": {
			begin: parley.Draft{Type: parley.TypeTask, Content: text("audit it"), Payload: []byte(`{"task":"audit it","metadata":{"original_requester":"boss","delegation_reason":"knows it"}}`)},
			title: "audit it",
			says: []parley.Draft{
				{Type: parley.TypeStatus, Content: text("testing"), Payload: []byte(`{"status":"blocked","progress":0.5,"message":"testing"}`)},
				{Type: parley.TypeStatus, Content: text("of its own"), Payload: []byte(`{"mood":"good"}`)},
				{Type: parley.TypeResult, Content: text("done"), Payload: []byte(`{"status":"partial","message":"done"}`)},
			},
			check: func(t *testing.T, v parley.TaskView) {
				same(t, "task", []any{v.DelegationReason, v.Progress.Blockers, *v.Progress.Fraction, v.Outcome, v.Result.Text},
					[]any{"knows it", []string{"testing"}, 0.5, parley.OutcomePartial, "done"})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("boss")
			w.AddPollingAgents("ned")
			c.begin.Direct, c.begin.To = []string{"ned"}, "ned"
			begun := w.PostAs("boss", c.begin)
			view := w.TaskByID(begun.Message.Task)
			same(t, "begun", []string{view.Title, view.Assignee, view.Requester, view.Message}, []string{c.title, "ned", "boss", begun.Message.ID})
			r := w.PostAs("boss", parley.Draft{InReplyTo: begun.Message.ID, Type: parley.TypeResult, Content: text("mine")})
			same(t, "its requester's word", len(r.Notices), 1)
			for _, d := range c.says {
				d.InReplyTo = begun.Message.ID
				w.PostAs("ned", d)
			}
			view = w.TaskByID(view.ID)
			c.check(t, view)
			next := w.StartRun("boss") // by the callback, and nothing else
			same(t, "woken by", []string{next.Messages[0].Source, next.Messages[0].ID}, []string{"delegation_result", view.Callback})
			same(t, "once", len(next.Messages), 1)
		})
	}
}

// Whatever step the process dies after, each subtask is called back once, and the task ends.
func TestCallbackOnceThroughCrashes(t *testing.T) {
	t.Parallel()
	const steps = 7
	for crash := range steps {
		w := newTeam(t)
		w.SayIn("user", "open", "@boss")
		x := &crasher{w: w, at: crash}
		x.run("boss", func(a *hub.Assignment) {
			w.Delegate(a.Caller(), "writer", "one")
			x.step()
			w.Delegate(a.Caller(), "data", "two")
		}, "wait")
		x.run("writer", func(*hub.Assignment) {}, "first")
		x.run("boss", func(*hub.Assignment) {}, "half")
		x.run("data", func(*hub.Assignment) {}, "second")
		x.run("boss", func(*hub.Assignment) {}, "whole")
		list := resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))
		var states []string
		for _, v := range list {
			states = append(states, fmt.Sprint(v.ID, v.Status))
		}
		same(t, fmt.Sprint("tasks after a crash at ", crash), states, []string{"task-3completed", "task-2completed", "task-1completed"})
		same(t, "callbacks", w.callbackTexts("open"), []string{"[Delegation Result from writer | task-2]\nfirst", "[Delegation Result from data | task-3]\nsecond"})
		w.AssertIdle("boss", "writer", "data")
		w.AssertConsistent()
	}
}

// crasher restarts the hub once, after a number of steps, as after a crash.
type crasher struct {
	w     *fixture
	at    int
	steps int
}

type crashed struct{}

func (x *crasher) step() {
	x.steps++
	if x.steps-1 != x.at {
		return
	}
	x.w.Restart()
	panic(crashed{})
}

// run does a run of an agent. It repeats the run if the hub crashes meanwhile.
func (x *crasher) run(agent string, do func(*hub.Assignment), text string) {
	x.w.T.Helper()
	if !x.try(agent, do, text) {
		for _, r := range resultOf[[]parley.Run](x.w)(x.w.LostRuns(ctx, node)) {
			x.w.NoError(x.w.RecoverRun(ctx, r.ID))
		}
		x.w.AdvanceLeases(time.Minute)
		if a := x.w.NextRunOf(agent); a != nil {
			x.w.NoError(x.w.BeginRun(ctx, a.Run.ID, parley.Process{}))
			do(a)
			x.w.EndRun(a, text)
		}
	}
}

func (x *crasher) try(agent string, do func(*hub.Assignment), text string) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(crashed); !ours {
				panic(r)
			}
		}
	}()
	a := x.w.StartRun(agent)
	do(a)
	if agent == "writer" || agent == "data" {
		x.step()
	}
	x.w.EndRun(a, text)
	x.step()
	return true
}

package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// Who waits for a task waits for all that is under it, though the run that delegated that is over.
func TestWaitingForATaskIsPartOfTheCycle(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddPollingAgents("ana")
	w.AddScriptAgents("b", "c")
	defer w.openSessions("ana")()
	waiting := w.beginContact(as("ana"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "Prepare it", Wait: time.Hour})
	for len(w.waitsOf("ana")) == 0 {
	}
	b := w.StartRun("b")
	w.Delegate(b.Caller(), "c", "Pull figures")
	w.EndRun(b, "wait for it")
	c := w.StartRun("c")
	same(t, "heard", w.beginAsk(c.Caller(), "ana", "which?").resultText(), "E005 Error: Waiting for ana"+circular+"ana → c → ana. Use 'delegate' for async processing.")
	other := w.beginAsk(w.WakeAndStartRun("c").Caller(), "ana", "when you are free?") // another run, outside the task: it only waits its turn
	other.assertWaiting()
	w.EndRun(c, "42")
	w.RunAndAnswer("b", "the report")
	same(t, "heard", waiting.resultText(), "Response from b: the report")
	w.ReplyAs("ana", other.request.ID, "now")
	same(t, "heard", other.resultText(), "Response from ana: now")
}

// A delegation that could not be waited for is not made.
func TestDelegationIntoACycleIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddPollingAgents("ana")
	w.AddScriptAgents("b")
	defer w.openSessions("ana")()
	asks := w.beginAsk(as("ana"), "b", "well?")
	b := w.StartRun("b")
	_, err := w.Contact(ctx, b.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "ana", Message: "Draft it", Wait: time.Hour})
	same(t, "code", parley.CodeOf(err), parley.DependencyFailed)
	same(t, "tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 0)
	w.EndRun(b, "so")
	asks.resultText()
}

// What waits for others is waited for with them: nobody can wait for what only it can end.
func TestWaitingForATaskThatDependsOnTheCallerIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana")
	w.AddScriptAgents("b")
	defer w.openSessions("ana")()
	own := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("ana"), parley.NewTask{Text: "mine"})).ID
	w.assertRefusals(t, []refusal{
		{
			"its own task", w.tryDelegate(as("ana"), "b", afterTasks(own), func(c *parley.Contact) { c.Wait = time.Hour }),
			refusalError(parley.DependencyFailed, "", "Error: Waiting for b"+circular+"b → ana → b. Use 'delegate' for async processing.", ""),
		},
	})
	same(t, "tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 1)
	w.AssertConsistent()
}

// Who waits for what is not begun yet waits for what that waits for.
func TestWaitingForADependentTaskIsPartOfTheCycle(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddPollingAgents("ana")
	w.AddScriptAgents("b", "c")
	defer w.openSessions("ana")()
	first := w.Delegate(as("ana"), "c", "first")
	waiting := w.startContact(as("ana"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "then", After: []string{first}, Wait: time.Hour})
	for len(w.waitsOf("ana")) == 0 {
	}
	c := w.StartRun("c")
	same(t, "heard", w.beginAsk(c.Caller(), "ana", "which?").resultText(), "E005 Error: Waiting for ana"+circular+"ana → c → ana. Use 'delegate' for async processing.")
	w.EndRun(c, "42")
	w.RunAndAnswer("b", "all of it")
	same(t, "heard", waiting.resultText(), "Response from b: all of it")
	w.AssertConsistent()
}

// A run that waits for what is not begun yet needs no slot while it does.
func TestARunThatWaitsForADependentTaskHasNoSlot(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("a", "b", "c")
	first := w.Delegate(as("a"), "c", "first")
	run := w.WakeAndStartRun("a")
	waiting := w.startContact(run.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "then", After: []string{first}, Wait: time.Hour})
	for w.RunByID(run.Run.ID).State != parley.RunWaiting {
	}
	w.RunAndAnswer("c", "42")
	w.RunAndAnswer("b", "all of it")
	same(t, "heard", waiting.resultText(), "Response from b: all of it")
	same(t, "it goes on", w.RunByID(run.Run.ID).State, parley.RunRunning)
	w.AssertConsistent()
}

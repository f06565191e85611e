package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// parked is a parked ask: a run of a asks b. The run of b has delegated to c and ended, so the ask has become a task of b.
type parked struct {
	*asking
	run  *hub.Assignment // the run that asks
	task string          // the task whose end answers the ask
	sub  string          // the subtask of c
}

// parkAsk has a run of a ask b. A run of b delegates to c and ends.
func (w *fixture) parkAsk() parked {
	w.T.Helper()
	p := parked{run: w.WakeAndStartRun("a")}
	p.asking = w.beginAsk(p.run.Caller(), "b", "what is it?")
	p.task, p.sub = w.delegateAndFinish("b", "c")
	p.assertWaiting()
	return p
}

// delegateAndFinish lets an asked agent delegate to another one and end its run.
func (w *fixture) delegateAndFinish(who, to string) (task, sub string) {
	w.T.Helper()
	b := w.StartRun(who)
	sub = w.Delegate(b.Caller(), to, "find out")
	task = w.RunByID(b.Run.ID).Task
	w.EndRun(b, "working on it")
	return task, sub
}

// newTrio returns a hub with the script agents a, b and c.
func newTrio(t *testing.T, change ...func(*fixture)) *fixture {
	t.Helper()
	w := newHub(t, append(change, mayLoop)...)
	w.AddScriptAgents("a", "b", "c")
	return w
}

// An asked agent that delegates answers once it has the answer. Its earlier texts are only statuses.
func TestAskWaitsForTheDelegationsOfItsAnswerer(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	task := w.TaskByID(p.task)
	same(t, "the task", []any{task.Source, task.Message, task.Requester, task.Assignee, task.Status, task.Title},
		[]any{parley.TaskFromAsk, p.request.ID, "a", "b", parley.TaskActive, "what is it?"})
	same(t, "above what was delegated", w.TaskByID(p.sub).Parent, p.task)
	status := w.newestMessageFrom(p.request.Conversation, "b")
	same(t, "said", []any{status.Content.Text, status.Type, status.InReplyTo}, []any{"working on it", parley.TypeStatus, p.request.ID})
	same(t, "for a", w.DeliveriesOf(status.ID), []parley.Delivery{})
	same(t, "the request", w.DeliveryState(p.request.ID, "b"), parley.DeliveryAcked)
	same(t, "slots taken", w.askSlotsUsed("b"), 0)
	same(t, "who waits", []any{w.askWait(p.request.ID).State, w.askWait(p.request.ID).AnswerTask, w.RunByID(p.run.Run.ID).State},
		[]any{parley.WaitWaiting, p.task, parley.RunWaiting})
	w.RunAndAnswer("c", "it is 42")
	b := w.StartRun("b")
	same(t, "the run of b", []any{b.Run.Task, b.Run.Depth, b.Run.Ask, textsOf(b.Messages)},
		[]any{p.task, 1, false, []string{"[Delegation Result from c | " + p.sub + "]\nit is 42"}})
	p.assertWaiting()
	answer := w.EndRun(b, "c says 42").Answer
	same(t, "heard", p.resultText(), "Response from b: c says 42")
	same(t, "by", []any{p.made.Outcome, p.made.Answer}, []any{parley.ContactAnswered, answer})
	same(t, "the wait", []any{w.askWait(p.request.ID).State, w.askWait(p.request.ID).Callback}, []any{parley.WaitAnswered, ""})
	same(t, "the request", []any{w.DeliveryState(p.request.ID, "b"), w.DeliveryOf(p.request.ID, "b").Answer}, []any{parley.DeliveryAnswered, answer})
	same(t, "for a", []any{w.DeliveriesOf(answer), len(w.askResultsTo("a"))}, []any{[]parley.Delivery{}, 0})
	same(t, "the answer", w.newestMessageFrom(p.request.Conversation, "b").Type, parley.TypeResponse)
	w.AssertTaskState(parley.TaskCompleted, p.task, p.sub)
	w.EndRun(p.run, "done")
	w.AssertIdle("a", "b", "c")
	w.AssertConsistent()
}

// newestMessageFrom returns the newest message of a participant in a conversation.
func (w *fixture) newestMessageFrom(conversation, who string) parley.Message {
	w.T.Helper()
	list := w.MessagesFrom(conversation, who)
	if len(list) == 0 {
		w.T.Fatalf("%s has said nothing", who)
	}
	return list[len(list)-1]
}

// askSlotsUsed counts the asks in the slots of an agent.
func (w *fixture) askSlotsUsed(who string) (n int) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		n, err = tx.Queue().CountAsks(who)
		return err
	}))
	return n
}

// An asked agent whose call is held gives its answer when the call was decided.
func TestAskWaitsForTheApprovalsOfItsAnswerer(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]parley.Decision{"approved": {Approve: true}, "denied": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			w.AddPermission("b", "c", parley.EffectAllow, withApproval)
			run := w.WakeAndStartRun("a")
			a := w.beginAsk(run.Caller(), "b", "what is it?")
			b := w.StartRun("b")
			held := w.HeldApproval(w.TryContact(b.Caller(), notifyContact("c", "look at it")))
			task := w.RunByID(b.Run.ID).Task
			same(t, "held in", []any{held.Task, w.TaskByID(task).Source, w.TaskByID(task).Message}, []any{task, parley.TaskFromAsk, a.request.ID})
			w.EndRun(b, "I have to ask first")
			a.assertWaiting()
			w.DecideAs("user", held.ID, d)
			again := w.StartRun("b")
			same(t, "goes on in", []any{again.Run.Task, again.Run.Conversation, again.Run.Depth}, []any{task, a.request.Conversation, 1})
			w.EndRun(again, "so be it")
			same(t, "heard", a.resultText(), "Response from b: so be it")
			w.AssertTaskState(parley.TaskCompleted, task)
			w.AssertConsistent()
		})
	}
}

// However the task ends, the ask ends with it, once.
func TestParkedAskEndsWithItsTask(t *testing.T) {
	t.Parallel()
	failed := "E005 Error: b failed to respond: "
	for name, c := range map[string]struct {
		end  func(*fixture, parked)
		want string
	}{
		"the task is cancelled": {func(w *fixture, p parked) {
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, p.task, "enough"))
		}, failed + "cancelled: enough"},
		"b says that it has failed": {func(w *fixture, p parked) {
			w.updateTaskAs("b", p.task, parley.TaskChange{Status: parley.TaskFailed, Reason: "no idea"})
		}, failed + "no idea"},
		"a run of it fails": {func(w *fixture, _ parked) {
			w.RunAndAnswer("c", "42")
			w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
		}, failed + "it broke"},
		"b is removed": {func(w *fixture, _ parked) { w.NoError(w.RemoveAgent(ctx, user, "b")) }, "E002 Error: b failed to respond: removed"},
		"c fails, which only wakes b": {func(w *fixture, p parked) {
			w.FailRunWith(w.StartRun("c"), parley.FailureFinal)
			p.assertWaiting()
			w.RunAndAnswer("b", "c cannot")
		}, "Response from b: c cannot"},
		"c is removed, which only wakes b": {func(w *fixture, p parked) {
			w.NoError(w.RemoveAgent(ctx, user, "c"))
			p.assertWaiting()
			w.RunAndAnswer("b", "c is gone")
		}, "Response from b: c is gone"},
		"b completes it by a call": {func(w *fixture, p parked) {
			w.RunAndAnswer("c", "42")
			b := w.StartRun("b")
			w.updateTaskAs("b", p.task, parley.TaskChange{Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: "it is 42"}})
			w.EndRun(b, "I have told them")
		}, "Response from b: it is 42"},
		"b completes it by a call without a word": {func(w *fixture, p parked) {
			w.RunAndAnswer("c", "42")
			b := w.StartRun("b")
			w.updateTaskAs("b", p.task, parley.TaskChange{Status: parley.TaskCompleted})
			p.assertWaiting()
			w.EndRun(b, "it is 42")
		}, "Response from b: it is 42"},
		"b completes it and has no word": {func(w *fixture, p parked) {
			w.RunAndAnswer("c", "42")
			b := w.StartRun("b")
			w.updateTaskAs("b", p.task, parley.TaskChange{Status: parley.TaskCompleted})
			w.EndRun(b, "")
		}, failed + "it gave no answer"},
		"b ends without a word": {func(w *fixture, _ parked) {
			w.RunAndAnswer("c", "42")
			w.EndRun(w.StartRun("b"), "")
		}, failed + "it gave no answer"},
		"b has replied and ends without a word": {func(w *fixture, p parked) {
			w.RunAndAnswer("c", "42")
			b := w.StartRun("b")
			w.PostFromRun(b, parley.Draft{InReplyTo: p.request.ID, Content: text("it is 42")})
			p.assertWaiting()
			w.EndRun(b, "")
		}, "Response from b: it is 42"},
		"it is given to c": {func(w *fixture, p parked) {
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, p.sub, "do it all"))
			resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, p.task, "c"))
			w.RunAndAnswer("c", "mine now: 42")
		}, "Response from c: mine now: 42"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			p := w.parkAsk()
			c.end(w, p)
			same(t, "heard", p.resultText(), c.want)
			if state := w.askWait(p.request.ID).State; !state.Ended() {
				t.Errorf("the wait is %s", state)
			}
			same(t, "brought", w.askResultsTo("a"), []string{})
			same(t, "called back", len(w.callbackTexts(p.request.Conversation)), strings.Count(strings.Join(w.TextsIn("user", p.request.Conversation), "\n"), "[Delegation"))
			if err := w.TryContact(p.run.Caller(), notifyContact("user", "thanks")); err != nil {
				t.Errorf("a cannot go on: %v", err)
			}
			w.AssertConsistent()
		})
	}
}

func (w *fixture) updateTaskAs(who, task string, c parley.TaskChange) {
	w.T.Helper()
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as(who), task, c))
}

// After its time a parked ask is late, and what comes of it is brought by one callback, whatever that is.
func TestParkedAskIsLateAndBroughtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*fixture, string)
		want string
	}{
		"an answer": {func(w *fixture, _ string) {
			w.RunAndAnswer("c", "42")
			w.RunAndAnswer("b", "it is 42")
		}, "Response from b: it is 42"},
		"a failure": {func(w *fixture, task string) {
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, task, ""))
		}, "Error: b failed to respond: cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t, withShortAsks)
			run := w.WakeAndStartRun("a")
			a := w.beginAsk(run.Caller(), "b", "what is it?")
			same(t, "outcome", []any{a.resultText() != "", a.made.Outcome}, []any{true, parley.ContactLate})
			task, _ := w.delegateAndFinish("b", "c")
			w.EndRun(run, "later, then")
			same(t, "brought", w.askResultsTo("a"), []string{})
			c.end(w, task)
			same(t, "brought", w.askResultsTo("a"), []string{c.want})
			woken := w.StartRun("a")
			same(t, "woken by", textsOf(woken.Messages), []string{c.want})
			w.EndRun(woken, "thanks")
			w.AssertIdle("a", "b")
			same(t, "the wait", w.askWait(a.request.ID).Callback, woken.Messages[0].ID)
			w.AssertConsistent()
		})
	}
}

// What an agent that the hub runs replies while its task goes on is no answer, and reaches nobody who gets the answer.
func TestReplyWhileTheTaskGoesOnIsNoAnswer(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	run := w.WakeAndStartRun("a")
	a := w.beginAsk(run.Caller(), "b", "what is it?")
	b := w.StartRun("b")
	w.Delegate(b.Caller(), "c", "find out")
	said := w.PostFromRun(b, parley.Draft{InReplyTo: a.request.ID, Content: text("one moment")})
	a.assertWaiting()
	same(t, "for a", said.Deliveries, []parley.Delivery{})
	w.EndRun(b, "one moment")
	same(t, "the request", w.DeliveryState(a.request.ID, "b"), parley.DeliveryAcked)
	a.assertWaiting()
	w.RunAndAnswer("c", "42")
	again := w.StartRun("b")
	said = w.PostFromRun(again, parley.Draft{InReplyTo: again.Messages[0].ID, Content: text("it is 42")}) // to what woke it
	same(t, "for a", said.Deliveries, []parley.Delivery{})
	a.assertWaiting()
	w.EndRun(again, "it is 42")
	same(t, "heard", []any{a.resultText(), a.made.Answer}, []any{"Response from b: it is 42", said.Message.ID})
	w.EndRun(run, "so")
	w.AssertIdle("a", "b", "c")
}

// A run that something else has woken in the conversation of the ask does not answer it, whatever it ends with.
func TestTextOfACallbackRunIsNoAnswer(t *testing.T) {
	t.Parallel()
	w := newTrio(t, withShortAsks)
	a := w.beginContact(user, parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "what is it?", Wait: time.Hour})
	b := w.StartRun("b")
	w.beginAsk(b.Caller(), "c", "do you know?").resultText() // which is late
	w.RunAndAnswer("c", "42")
	other := w.StartRun("b")
	same(t, "woken by", textsOf(other.Messages), []string{"Response from c: 42"})
	w.EndRun(other, "I have read it")
	a.assertWaiting()
	w.EndRun(b, "it is 42")
	same(t, "heard", a.resultText(), "Response from b: it is 42")
}

// Of those whose runs are not the hub's the first reply is the answer: a session, a person, and a webhook, whatever it has
// delegated.
func TestFirstReplyOfOthersIsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.AddAgentsWithRuntime(parley.RuntimeWebhook, "hook")
	w.AddPollingAgents("ana")
	defer w.openSessions("ana")()
	run := w.WakeAndStartRun("a")
	for _, who := range []string{"ana", "user"} {
		a := w.beginAsk(run.Caller(), who, "what is it?")
		w.Delegate(as(who), "c", "find out")
		w.ReplyAs(who, a.request.ID, "first")
		same(t, who, a.resultText(), "Response from "+who+": first")
	}
	a := w.beginAsk(run.Caller(), "hook", "what is it?")
	task, _ := w.delegateAndFinish("hook", "c")
	a.assertWaiting()
	w.ReplyAs("hook", a.request.ID, "by the API")
	same(t, "hook", a.resultText(), "Response from hook: by the API")
	w.AssertTaskState(parley.TaskActive, task)
	same(t, "the request", w.DeliveryState(a.request.ID, "hook"), parley.DeliveryAnswered)
}

// The later runs of the answerer ask one deeper than the ask, across processes; an approval too, and so do calls that
// name no run. They take ordinary slots and go on with the session of the first.
func TestLaterRunsAskAsDeepAsTheFirst(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("a", "b", "c", "d")
	w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "well?")
	w.beginAsk(w.StartRun("b").Caller(), "c", "well?")
	c := w.StartRun("c")
	same(t, "depth", []any{c.Run.Depth, c.Run.Ask}, []any{2, true})
	w.Delegate(c.Caller(), "d", "find out")
	task := w.RunByID(c.Run.ID).Task
	resultOf[parley.Run](w)(w.FinishRun(ctx, c.Run.ID, parley.Result{Text: "working on it", Session: "s-1"}, nil))
	w.Restart()
	w.RunAndAnswer("d", "42")
	c = w.StartRun("c")
	same(t, "the later run", []any{c.Run.Depth, c.Run.Ask, c.Run.Task, c.Run.Session}, []any{2, false, task, "s-1"})
	for _, by := range []hub.Caller{c.Caller(), as("c")} {
		ask := w.beginAsk(by, "d", "deeper")
		same(t, "deeper", w.askWait(ask.request.ID).Depth, 2)
		d := w.StartRun("d")
		same(t, "the run of d", d.Run.Depth, 3)
		_, err := w.Contact(ctx, d.Caller(), askContact("a", "too deep"))
		same(t, "too deep", parley.AsError(err).Message, "Error: Maximum agent communication depth (3) reached. Use 'delegate' for async to avoid nesting.")
		w.EndRun(d, "no")
		ask.resultText()
	}
}

// An approved ask is as deep as the run that wanted it, though that is erased.
func TestApprovedAskKeepsItsDepth(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.AddPermission("b", "c", parley.EffectAllow, withApproval)
	a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
	b := w.StartRun("b")
	held := w.HeldApproval(w.TryContact(b.Caller(), askContact("c", "well?")))
	w.EndRun(b, "wait")
	w.NoError(w.DeleteConversation(ctx, user, a.request.Conversation))
	a.resultText()
	w.Restart()
	w.DecideAs("user", held.ID, parley.Decision{Approve: true})
	same(t, "the run of c", w.StartRun("c").Run.Depth, 2)
}

// The hub may stop between any two steps. Nothing is lost or done twice.
func TestParkedAskSurvivesRestarts(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	restart := func() {
		w.Restart()
		w.NoError(w.RecoverWaits(ctx))
	}
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "what is it?", IdempotencyKey: "k"}
	a := w.beginContact(as("a"), ask)
	b := w.StartRun("b")
	sub := w.Delegate(b.Caller(), "c", "find out")
	task := w.RunByID(b.Run.ID).Task
	a.giveUp()
	a.resultText()
	w.FailRunWith(b, parley.FailureStopped) // as a hub that stops does
	restart()
	b = w.StartRun("b")
	same(t, "goes on in", []any{b.Run.Task, b.Run.Depth, b.Run.Ask}, []any{task, 1, true})
	same(t, "delegates it once", w.Delegate(b.Caller(), "c", "find out"), sub)
	restart()
	w.EndRun(b, "working on it")
	restart()
	c := w.StartRun("c")
	restart()
	w.EndRun(c, "42")
	restart()
	b = w.StartRun("b")
	restart()
	w.EndRun(b, "it is 42")
	restart()
	same(t, "brought", w.askResultsTo("a"), []string{"Response from b: it is 42"})
	again := w.repeatContact(as("a"), ask, a.request)
	same(t, "asked again", []any{again.resultText(), again.made.Duplicate}, []any{"Response from b: it is 42", true})
	same(t, "brought", len(w.askResultsTo("a")), 1)
	w.AssertConsistent()
}

// Who makes the same call again while the ask is parked waits for the same answer, and gets it once.
func TestRepeatedAskWaitsForTheSameTask(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "what is it?", IdempotencyKey: "k"}
	a := w.beginContact(as("a"), ask)
	w.delegateAndFinish("b", "c")
	a.giveUp()
	a.resultText()
	same(t, "left", w.askWait(a.request.ID).State, parley.WaitLate)
	again := w.repeatContact(as("a"), ask, a.request)
	again.assertWaiting()
	w.RunAndAnswer("c", "42")
	w.RunAndAnswer("b", "it is 42")
	same(t, "heard", again.resultText(), "Response from b: it is 42")
	same(t, "brought", w.askResultsTo("a"), []string{})
	w.AssertIdle("a", "b", "c")
}

// The approval of an ask waits for the task that the ask has become, and its caller is told once.
func TestApprovedAskEndsWithTheTask(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.addInternOffice()
	w.AddScriptAgents("c")
	run, dm := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "is it right?")))
	w.EndRun(run, "")
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.delegateAndFinish("senior", "c")
	same(t, "in between", w.ApprovalByID(a.ID).State, parley.ApprovalApproved)
	w.AssertIdle("intern")
	w.RunAndAnswer("c", "yes")
	w.RunAndAnswer("senior", "it is right")
	same(t, "at last", []any{w.ApprovalByID(a.ID).State, w.ApprovalByID(a.ID).Result}, []any{parley.ApprovalExecuted, "Response from senior: it is right"})
	same(t, "told", textsOf(w.MessagesFrom(dm, parley.System)), []string{"Response from senior: it is right"})
	same(t, "woken by", textsOf(w.StartRun("intern").Messages), []string{"Response from senior: it is right"})
	w.AssertConsistent()
}

// A task that is done again after the ask has failed calls its requester back: the ask is over.
func TestRetriedAskTaskCallsBack(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, p.task, "a mistake"))
	p.resultText()
	w.EndRun(p.run, "a pity")
	resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, p.task))
	b := w.StartRun("b")
	same(t, "the run of b", []any{b.Run.Task, b.Run.Depth, b.Run.Ask}, []any{p.task, 1, false})
	w.EndRun(b, "42")
	same(t, "woken by", textsOf(w.StartRun("a").Messages), []string{"[Delegation Result from b | " + p.task + "]\n42"})
	same(t, "brought", w.askResultsTo("a"), []string{})
	w.AssertIdle("b")
}

// So does one that goes on with a dead letter, which has failed the ask.
func TestRevivedAskTaskCallsBack(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.EditAgent("b", func(a *parley.Agent) { a.Attempts = 1 })
	p := w.parkAsk()
	w.RunAndAnswer("c", "42")
	b := w.StartRun("b")
	w.FailRunWith(b, parley.FailureServer)
	same(t, "heard", p.resultText(), "E005 Error: b failed to respond: it broke")
	resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, b.Messages[0].ID, "b"))
	w.RunAndAnswer("b", "it is 42")
	same(t, "called back", w.TaskByID(p.task).Callback != "", true)
	same(t, "brought", w.askResultsTo("a"), []string{})
}

// What else is said to the answerer joins its next run, and is answered by what that ends with.
func TestMessagesThatJoinTheAnswererAreAnswered(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	a := w.beginAsk(user, "b", "what is it?")
	b := w.StartRun("b")
	w.Delegate(b.Caller(), "c", "find out")
	w.Delegate(b.Caller(), "a", "find out too")
	w.EndRun(b, "working on it")
	w.RunAndAnswer("c", "42")
	m := w.SendDM("user", "b", "how is it going?").Message
	w.EndRun(w.StartRun("b"), "half of it is there")
	same(t, "what joined", w.DeliveryState(m.ID, "b"), parley.DeliveryAnswered)
	same(t, "the request", w.DeliveryState(a.request.ID, "b"), parley.DeliveryAcked)
	a.assertWaiting()
	w.RunAndAnswer("a", "43")
	w.RunAndAnswer("b", "42 and 43")
	same(t, "heard", a.resultText(), "Response from b: 42 and 43")
}

// An ask whose conversation is deleted is over at once; its task goes on for nobody.
func TestParkedAskEndsWithItsConversation(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	w.NoError(w.DeleteConversation(ctx, user, p.request.Conversation))
	same(t, "heard", p.resultText(), "E005 Error: b failed to respond: the conversation was deleted")
	w.RunAndAnswer("c", "42")
	w.RunAndAnswer("b", "it is 42")
	w.AssertTaskState(parley.TaskCompleted, p.task)
	same(t, "brought", w.askResultsTo("a"), []string{})
	w.EndRun(p.run, "so")
	w.AssertIdle("a", "b", "c")
}

// If the answerer's work needs the only session of the asker, the ask is late at once.
func TestAskIsLateAtOnceWhereItsAnswerNeedsTheAsker(t *testing.T) {
	t.Parallel()
	late := "did not respond within 7 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes."
	for name, c := range map[string]struct {
		needs func(*fixture, *hub.Assignment) // ana, by a run of b
		then  func(*fixture)
	}{
		"a delegation": {
			func(w *fixture, b *hub.Assignment) { w.Delegate(b.Caller(), "ana", "your part") },
			func(w *fixture) {
				taken := w.TakeAs("ana", parley.Take{Waking: true})
				w.updateTaskAs("ana", taken.Messages[0].Task, parley.TaskChange{Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: "done"}})
			},
		},
		"a delegation further down": {
			func(w *fixture, b *hub.Assignment) {
				w.Delegate(b.Caller(), "c", "see to it")
				w.Delegate(w.StartRun("c").Caller(), "ana", "your part")
			},
			func(w *fixture) {
				taken := w.TakeAs("ana", parley.Take{Waking: true})
				w.updateTaskAs("ana", taken.Messages[0].Task, parley.TaskChange{Status: parley.TaskCompleted})
				live := resultOf[[]parley.Run](w)(w.Runs(ctx, user, parley.RunFilter{Agent: "c", Live: true}))
				resultOf[parley.Run](w)(w.FinishRun(ctx, live[0].ID, parley.Result{Text: "wait"}, nil))
				w.RunAndAnswer("c", "seen to")
			},
		},
		"an approval": {
			func(w *fixture, b *hub.Assignment) {
				w.EditAgent("b", func(a *parley.Agent) { a.Manager, a.Mode = "ana", parley.ModeSupervised })
				w.HeldApproval(w.TryContact(b.Caller(), notifyContact("c", "x")))
			},
			func(w *fixture) {
				list := resultOf[[]parley.Approval](w)(w.Approvals(ctx, user, parley.ApprovalFilter{}))
				w.DecideAs("ana", list[0].ID, parley.Decision{Approve: true})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			w.AddPollingAgents("ana")
			defer w.openSessions("ana")()
			a := w.beginAsk(as("ana"), "b", "what is it?")
			b := w.StartRun("b")
			w.Clock.Advance(7 * time.Second)
			a.assertWaiting()
			c.needs(w, b)
			same(t, "heard", []any{a.resultText(), a.made.Outcome}, []any{"E004 Error: b " + late, parley.ContactLate})
			w.EndRun(b, "working on it")
			c.then(w)
			w.RunAndAnswer("b", "it is 42")
			same(t, "brought", w.askResultsTo("ana"), []string{"Response from b: it is 42"})
			w.AssertConsistent()
		})
	}
}

// The same holds for a webhook that takes one call at a time. An agent that can begin another run keeps waiting.
func TestAskIsLateAtOnceWhereItsAnswerNeedsTheOnlySlot(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.AddAgentsWithRuntime(parley.RuntimeWebhook, "hook")
	w.EditAgent("hook", func(a *parley.Agent) { a.Concurrency = 1 })
	run := w.WakeAndStartRun("hook")
	a := w.beginAsk(run.Caller(), "b", "what is it?")
	b := w.StartRun("b")
	w.Delegate(b.Caller(), "hook", "your part")
	heard := a.resultText()
	same(t, "heard", []any{heard != "", a.made.Outcome}, []any{true, parley.ContactLate})
	w.EndRun(run, "later, then")
	w.EndRun(b, "working on it")
	w.RunAndAnswer("hook", "done")
	w.RunAndAnswer("b", "it is 42")
	same(t, "brought", w.askResultsTo("hook"), []string{"Response from b: it is 42"})
	other := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
	b = w.StartRun("b")
	w.Delegate(b.Caller(), "a", "your part")
	w.EndRun(b, "working on it")
	other.assertWaiting()
	w.RunAndAnswer("a", "done")
	w.RunAndAnswer("b", "43")
	same(t, "heard", other.resultText(), "Response from b: 43")
}

// An answer may come to depend on the task of the run that waits for it.
func TestAskIsLateAtOnceWhereItsAnswerDependsOnItsOwnTask(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	boss := w.WakeAndStartRun("a")
	task := w.Delegate(boss.Caller(), "b", "your part")
	w.EndRun(boss, "it is under way")
	b := w.StartRun("b")
	asked := w.beginAsk(b.Caller(), "a", "what next?")
	answering := w.StartRun("a")
	w.Delegate(answering.Caller(), "c", "check it", afterTasks(task))
	heard := asked.resultText()
	same(t, "heard", []any{heard != "", asked.made.Outcome}, []any{true, parley.ContactLate})
	w.EndRun(b, "done")
	w.EndRun(answering, "c checks it then")
	w.RunAndAnswer("a", "so it is done")
	w.RunAndAnswer("c", "checked")
	w.RunAndAnswer("a", "all is well")
	same(t, "brought", w.askResultsTo("b"), []string{"Response from a: all is well"})
}

// So many asks to one agent may be parked, and no more.
func TestParkedAsksAreBounded(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	open := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "one more?")
	b := w.StartRun("b")
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		for range 256 {
			m := open.request
			m.ID, m.IdempotencyKey = uuid.NewString(), ""
			var err error
			if m.Seq, err = tx.Messages().NextSeq(); err != nil {
				return err
			}
			m.Checksum = m.Seal(m.BodyDigest())
			if err := tx.Messages().Insert(m); err != nil {
				return err
			}
			err = tx.Waits().Insert(parley.Wait{
				ID: uuid.NewString(), Message: m.ID, Waiter: "a", Target: "b", Ask: true, State: parley.WaitLate, Since: began, Until: began, AnswerTask: "task-9999",
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	_, err := w.Contact(ctx, b.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "c", Message: "find out"})
	same(t, "to park another", []any{parley.CodeOf(err), parley.AsError(err).Message},
		[]any{parley.Unavailable, "Error: 256 asks to b already wait for other work, which is the limit"})
	same(t, "tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 0)
	w.EndRun(b, "without c, then")
	same(t, "heard", open.resultText(), "Response from b: without c, then")
	w.AssertCode(parley.Unavailable, w.TryContact(user, askContact("b", "another?")))
}

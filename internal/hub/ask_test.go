package hub_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func named(w *fixture, runtime string, names ...string) {
	w.T.Helper()
	for _, name := range names {
		_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: parley.Fold(name), Name: name, Profile: parley.Profile{Runtime: runtime}})
		w.NoError(err)
	}
}

func TestAskIsAnsweredInline(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	named(w, parley.RuntimeScript, "CoordinatorBot", "DataBot")
	run := w.WakeAndStartRun("coordinatorbot")
	a := w.beginContact(run.Caller(), parley.Contact{Pattern: parley.PatternAsk, Agent: "DataBot", Message: "Q4?", Context: "For the CEO."})
	a.assertWaiting()
	same(t, "the request", []any{a.request.Content.Text, a.request.Source, a.request.Type, a.request.To}, []any{
		"[Agent Request from CoordinatorBot | Pattern: ask]\n\nContext: For the CEO.\n\nQ4?", "agent_contact", parley.TypeRequest, "databot",
	})
	same(t, "the run that asks", w.RunByID(run.Run.ID).State, parley.RunWaiting)
	answering := w.StartRun("databot")
	same(t, "the run that answers", []any{textsOf(answering.Messages), answering.Run.Depth}, []any{[]string{a.request.Content.Text}, 1})
	r := w.EndRun(answering, "$2.4M")
	same(t, "heard", a.resultText(), "Response from DataBot: $2.4M")
	same(t, "made", a.made, parley.Contacted{
		Text: "Response from DataBot: $2.4M", Quotes: []parley.Quote{{By: "databot", Start: 23, End: 28}}, Outcome: parley.ContactAnswered, Agent: "databot", Conversation: a.request.Conversation,
		Message: a.request.ID, Seq: a.request.Seq, Answer: r.Answer,
	})
	same(t, "the run that asks", w.RunByID(run.Run.ID).State, parley.RunRunning)
	same(t, "in their DM", w.TextsIn("user", a.request.Conversation), []string{a.request.Content.Text, "$2.4M"})
	w.AssertIdle("coordinatorbot", "databot")
	w.EndRun(run, "done")
	w.AssertIdle("coordinatorbot", "databot")
	same(t, "inboxes", []parley.Inbox{w.InboxOf("coordinatorbot"), w.InboxOf("databot")}, []parley.Inbox{{}, {}})
}

// An answer is an answer by whatever way it comes, and it is one.
func TestAskIsAnsweredByAReply(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	w.AddPollingAgents("ana")
	defer w.openSessions("ana")()
	a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "well?")
	b := w.StartRun("b")
	w.PostFromRun(b, parley.Draft{InReplyTo: a.request.ID, Content: text("yes")})
	same(t, "heard", a.resultText(), "Response from b: yes")
	w.EndRun(b, "yes")
	same(t, "in their DM", w.TextsIn("user", a.request.Conversation), []string{a.request.Content.Text, "yes"})
	a = w.beginAsk(user, "ana", "well?")
	taken := w.TakeAs("ana", parley.Take{})
	same(t, "taken", textsOf(taken.Messages), []string{a.request.Content.Text})
	w.ReplyAs("ana", a.request.ID, "no")
	same(t, "heard", a.resultText(), "Response from ana: no")
	a = w.beginAsk(as("ana"), "user", "may I?")
	w.PostAs("user", parley.Draft{InReplyTo: a.request.ID, Content: parley.Content{Text: "so:", Code: "rm -r", Artifacts: []parley.Artifact{{Path: "/etc/motd"}}}})
	same(t, "heard", a.resultText(), "Response from user: so:\n\nrm -r\n\n[artifact: /etc/motd]")
	w.AssertIdle("a", "b")
	same(t, "what waits", []int{len(w.PendingTexts("ana")), len(w.PendingTexts("a"))}, []int{0, 1}) // a is at its work
}

// Fetching is all the ack that one has who takes at most once: the answer comes after it.
func TestAskThatIsFetchedAtMostOnceIsAnswered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana")
	defer w.openSessions("ana")()
	a := w.beginAsk(user, "ana", "well?")
	w.TakeAs("ana", parley.Take{AtMostOnce: true})
	a.assertWaiting()
	w.ReplyAs("ana", a.request.ID, "yes")
	same(t, "heard", a.resultText(), "Response from ana: yes")
}

// Whatever ends the work on an ask frees whoever waits for it, with the reason.
func TestAskEndsWithTheWorkItWaitsFor(t *testing.T) {
	t.Parallel()
	broken := "E005 Error: B failed to respond: "
	gone := "E002 Error: B failed to respond: "
	for name, c := range map[string]struct {
		end  func(*fixture, *asking)
		want string
	}{
		"the run has failed":    {func(w *fixture, _ *asking) { w.FailRunWith(w.StartRun("b"), parley.FailureFinal) }, broken + "it broke"},
		"it is busy":            {func(w *fixture, _ *asking) { w.FailRunWith(w.StartRun("b"), parley.FailureBusy) }, broken + "it broke"},
		"it could not start":    {func(w *fixture, _ *asking) { w.FailRunWith(w.NextRunOf("b"), parley.FailureNoStart) }, broken + "it broke"},
		"it has nothing to say": {func(w *fixture, _ *asking) { w.EndRun(w.StartRun("b"), "") }, broken + "it gave no answer"},
		"it says a blank":       {func(w *fixture, _ *asking) { w.EndRun(w.StartRun("b"), " \n") }, broken + "it gave no answer"},
		"the run was cancelled": {func(w *fixture, _ *asking) {
			b := w.StartRun("b")
			resultOf[parley.Run](w)(w.CancelRun(ctx, user, b.Run.ID, "enough"))
			w.EndRun(b, "too late")
		}, broken + "the run was cancelled: by user: enough"},
		"the run is lost": {func(w *fixture, a *asking) {
			w.StartRun("b")
			w.AdvanceLeases(50 * time.Second)
			resultOf[string](w)(w.ExtendRunLease(ctx, a.run))
			w.AdvanceLeases(50 * time.Second)
		}, broken + "the hub or the program ended before the run did"},
		"it was removed":           {func(w *fixture, _ *asking) { w.NoError(w.RemoveAgent(ctx, user, "b")) }, gone + "removed"},
		"it was removed at work":   {func(w *fixture, _ *asking) { w.StartRun("b"); w.NoError(w.RemoveAgent(ctx, user, "b")) }, gone + "removed"},
		"it was stopped":           {func(w *fixture, _ *asking) { w.stopAgent("b", 0) }, gone + "stopped"},
		"it was stopped at work":   {func(w *fixture, _ *asking) { stopAtWork(w) }, gone + "stopped"},
		"the conversation is gone": {func(w *fixture, a *asking) { w.NoError(w.DeleteConversation(ctx, user, a.request.Conversation)) }, broken + "the conversation was deleted"},
		"it is gone, at work": {func(w *fixture, a *asking) {
			w.StartRun("b")
			w.NoError(w.DeleteConversation(ctx, user, a.request.Conversation))
		}, broken + "the conversation was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			named(w, parley.RuntimeScript, "A", "B")
			run := w.WakeAndStartRun("a")
			a := w.beginAsk(run.Caller(), "B", "well?")
			c.end(w, a)
			same(t, "heard", a.resultText(), c.want)
			same(t, "suggestion", parley.AsError(a.err).Suggestion, "")
			same(t, "the run that asked", w.RunByID(run.Run.ID).State, parley.RunRunning)
			same(t, "told besides", w.HubMessagesTo("a"), []parley.Message(nil))
			w.EndRun(run, "so be it")
			w.AssertIdle("a", "b")
		})
	}
}

func (w *fixture) stopAgent(agent string, timeout int64) {
	w.T.Helper()
	resultOf[parley.Receipt](w)(w.Command(ctx, user, agent, parley.Command{
		Action: parley.ActionStop, Parameters: parley.CommandParameters{TimeoutMS: timeout},
	}))
}

// stopAtWork stops an agent that is at an ask, which has its while to end.
func stopAtWork(w *fixture) {
	w.T.Helper()
	b := w.StartRun("b")
	w.stopAgent("b", 1000)
	w.Clock.Advance(time.Second)
	w.NoError(w.SweepHalts(ctx))
	w.EndRun(b, "too late")
}

// TestAskToAnAbsentAgentEnds: the agent has left, and has not taken the question.
func TestAskToAnAbsentAgentEnds(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana")
	leave := w.openSessions("ana")
	a := w.beginAsk(user, "ana", "well?")
	w.NoError(w.SweepAttendance(ctx))
	leave()
	w.Clock.Advance(time.Second)
	w.NoError(w.SweepAttendance(ctx))
	same(t, "heard", a.resultText(), "E002 Error: ana failed to respond: went away")
}

func TestAskToASessionEndsWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(w *fixture, taken parley.Taken)
		want string
	}{
		"its lease is over": {func(w *fixture, _ parley.Taken) { w.AdvanceLeases(2 * time.Minute) }, "E005 Error: ana failed to respond: it took the message and neither answered nor acknowledged it"},
		"it acknowledges":   {func(w *fixture, taken parley.Taken) { w.AckAs("ana", taken.Deliveries[0].Message) }, "E005 Error: ana failed to respond: it gave no answer"},
		"it gives it back":  {func(w *fixture, taken parley.Taken) { w.NackTaken("ana", taken, parley.FailureBusy) }, "E005 Error: ana failed to respond: it is too busy"},
		"it is stopped":     {func(w *fixture, _ parley.Taken) { w.stopAgent("ana", 0) }, "E002 Error: ana failed to respond: stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddPollingAgents("ana")
			leave := w.openSessions("ana")
			defer leave()
			a := w.beginAsk(user, "ana", "well?")
			taken := w.TakeAs("ana", parley.Take{})
			w.NoError(w.SweepAttendance(ctx))
			c.end(w, taken)
			same(t, "heard", a.resultText(), c.want)
			w.ReplyAs("ana", a.request.ID, "after all")
			same(t, "a late answer is a message like any other", w.PendingTexts("user"), []string{"after all"})
		})
	}
}

const inTime = "did not respond within 120 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes."

// After 120 seconds, to the instant, the caller goes on. The answer follows, once.
func TestLateAnswerIsBroughtOnce(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place, func(w *fixture) { w.Config.Clock = nil })
		w.AddScriptAgents("a", "b")
		run := w.WakeAndStartRun("a")
		began := time.Now()
		a := w.beginAsk(run.Caller(), "b", "well?")
		b := w.StartRun("b")
		same(t, "heard", a.resultText(), "E004 Error: b "+inTime)
		same(t, "after", time.Since(began), 120*time.Second)
		same(t, "outcome", a.made.Outcome, parley.ContactLate)
		same(t, "the run that asked", w.RunByID(run.Run.ID).State, parley.RunRunning)
		w.EndRun(run, "gave up")
		w.EndRun(b, "at last")
		same(t, "brought", w.askResultsTo("a"), []string{"Response from b: at last"})
		woken := w.StartRun("a")
		same(t, "woken by", []any{textsOf(woken.Messages), woken.Run.Conversation}, []any{[]string{"Response from b: at last"}, run.Run.Conversation})
		w.ReplyAs("b", a.request.ID, "and another thing")
		same(t, "brought", len(w.askResultsTo("a")), 1)
		same(t, "the wait", []any{w.askWait(a.request.ID).State, w.askWait(a.request.ID).Callback}, []any{parley.WaitAnswered, woken.Messages[0].ID})
	})
}

func withShortAsks(w *fixture) { w.Config.Asks.Wait = time.Millisecond }

func TestLateAnswersAreDelivered(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.AddScriptAgents("a", "b")
	late := "E004 Error: b did not respond within 0.001 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes."
	a := w.beginAsk(user, "b", "one")
	same(t, "heard", a.resultText(), late)
	w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
	same(t, "a failure is brought too", w.askResultsTo("user"), []string{"Error: b failed to respond: it broke"})
	m := w.HubMessagesTo("user")[0]
	same(t, "in the DM", []string{m.Conversation, m.InReplyTo}, []string{a.request.Conversation, a.request.ID})
	a = w.beginAsk(as("a"), "user", "may I?")
	same(t, "a person is late", a.resultText(), "E004 Error: user"+late[len("E004 Error: b"):])
	w.ReplyAs("user", a.request.ID, "you may")
	same(t, "brought", w.askResultsTo("a"), []string{"Response from user: you may"})
	same(t, "woken by", textsOf(w.StartRun("a").Messages), []string{"Response from user: you may"})
	w.AssertIdle("a")
}

// Who stops waiting is brought the answer. A run that has ended is brought nothing.
func TestAskerThatStoppedWaitingGetsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	leave := func(a *asking) {
		w.T.Helper()
		a.giveUp()
		if <-a.done; !errors.Is(a.err, parley.AsError(a.err)) || parley.CodeOf(a.err) != parley.TimedOut {
			t.Errorf("whoever left heard %v", a.err)
		}
	}
	a := w.beginAsk(user, "b", "one")
	leave(a)
	same(t, "outside a run", w.askWait(a.request.ID).State, parley.WaitLate)
	w.RunAndAnswer("b", "first")
	same(t, "brought", w.askResultsTo("user"), []string{"Response from b: first"})
	run := w.WakeAndStartRun("a")
	a = w.beginAsk(run.Caller(), "b", "two")
	leave(a)
	same(t, "in a run that goes on", []any{w.askWait(a.request.ID).State, w.RunByID(run.Run.ID).State}, []any{parley.WaitWaiting, parley.RunRunning})
	w.RunAndAnswer("b", "second")
	same(t, "brought", w.askResultsTo("a"), []string{"Response from b: second"})
	a = w.beginAsk(run.Caller(), "b", "three")
	leave(a)
	w.EndRun(run, "done")
	same(t, "in a run that has ended well", w.askWait(a.request.ID).State, parley.WaitLate)
	w.RunAndAnswer("b", "third")
	same(t, "brought", w.askResultsTo("a"), []string{"Response from b: second", "Response from b: third"})
	run = w.WakeAndStartRun("a")
	a = w.beginAsk(run.Caller(), "b", "four")
	leave(a)
	w.FailRunWith(run, parley.FailureFinal)
	same(t, "in a run that has failed", w.askWait(a.request.ID).State, parley.WaitAbandoned)
	w.RunAndAnswer("b", "fourth")
	same(t, "brought", w.askResultsTo("a"), []string{"Response from b: second", "Response from b: third"})
	same(t, "said in their DM", w.TextsIn("user", a.request.Conversation)[5], "fourth")
}

// A run that ends while it waits frees itself, and the next attempt goes on waiting for the same answer.
func TestRetriedRunWaitsForTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	run := w.WakeAndStartRun("a")
	a := w.beginAsk(run.Caller(), "b", "well?")
	w.FailRunWith(run, parley.FailureStopped)
	same(t, "heard", a.resultText(), "E003 the run "+run.Run.ID+" has ended")
	again := w.StartRun("a")
	a = w.repeatAsk(again.Caller(), a)
	a.assertWaiting()
	same(t, "the run that asks", w.RunByID(again.Run.ID).State, parley.RunWaiting)
	b := w.StartRun("b")
	w.AssertIdle("b")
	w.FailRunWith(again, parley.FailureStopped)
	a.resultText()
	w.EndRun(b, "yes")
	third := w.StartRun("a")
	a = w.repeatAsk(third.Caller(), a)
	same(t, "heard", []any{a.resultText(), a.made.Duplicate}, []any{"Response from b: yes", true})
	w.AssertIdle("b")
	other := w.beginAsk(third.Caller(), "b", "well?")
	other.assertWaiting()
	w.RunAndAnswer("b", "again")
	same(t, "a second question", other.resultText(), "Response from b: again")
	same(t, "brought", w.askResultsTo("a"), []string{})
}

func TestKeyOfAContactIsRemembered(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks)
	w.AddScriptAgents("a", "b")
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "well?", IdempotencyKey: "k"}
	w.beginContact(user, ask).resultText()
	b := w.StartRun("b")
	w.AssertIdle("b")
	w.EndRun(b, "yes")
	same(t, "heard", w.beginContact(user, ask).resultText(), "Response from b: yes")
	same(t, "and again", w.beginContact(user, ask).resultText(), "Response from b: yes")
	note := parley.Contact{Pattern: parley.PatternNotify, Agent: "b", Message: "fyi", IdempotencyKey: "n"}
	one, two := resultOf[parley.Contacted](w)(w.Contact(ctx, user, note)), resultOf[parley.Contacted](w)(w.Contact(ctx, user, note))
	same(t, "one note", []any{two.Message, one.Duplicate, two.Duplicate}, []any{one.Message, false, true})
	note.Agent = "a"
	wantError(t, errorOf(w.Contact(ctx, user, note)), refusalError(parley.BadInput, parley.Conflict, `the idempotency key "n" was used for another call`, "use another key"))
	note.Agent, note.IdempotencyKey = "b", "k"
	wantError(t, errorOf(w.Contact(ctx, user, note)), refusalError(parley.BadInput, parley.Conflict, `the idempotency key "k" was used for another call`, "use another key"))
	same(t, "brought and settled", []any{w.askResultsTo("user"), w.PendingTexts("user")}, []any{[]string{"Response from b: yes"}, []string{}})
}

func TestAnswersReachTheirAskersAfterARestart(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	run := w.WakeAndStartRun("a")
	outside, inside := w.beginAsk(user, "b", "one"), w.beginAsk(run.Caller(), "b", "two")
	crash(w, outside, inside)
	w.NoError(w.RecoverWaits(ctx))
	w.NoError(w.RecoverRun(ctx, run.Run.ID))
	same(t, "states", []parley.WaitState{w.askWait(outside.request.ID).State, w.askWait(inside.request.ID).State},
		[]parley.WaitState{parley.WaitLate, parley.WaitAbandoned})
	w.RunAndAnswer("b", "first")
	w.RunAndAnswer("b", "second")
	same(t, "brought", [][]string{w.askResultsTo("user"), w.askResultsTo("a")}, [][]string{{"Response from b: first"}, {}})
	w.AdvanceLeases(time.Minute)
	a := w.beginAsk(w.StartRun("a").Caller(), "b", "two")
	same(t, "the same call", a.resultText(), "Response from b: second")
}

// crash ends a hub without letting it write anything about those who wait.
func crash(w *fixture, waiting ...*asking) {
	w.T.Helper()
	var before []parley.Wait
	for _, a := range waiting {
		before = append(before, w.askWait(a.request.ID))
	}
	for _, a := range waiting {
		a.giveUp()
		<-a.done
	}
	w.Close()
	w.Open()
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) (err error) {
		for _, wait := range before {
			err = errors.Join(err, tx.Waits().Put(wait))
		}
		return err
	}))
}

func TestSweepEndsAsksOfDisconnectedAskers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "well?")
	a.giveUp()
	<-a.done
	w.Clock.Advance(2*time.Minute - time.Millisecond)
	w.NoError(w.SweepWaits(ctx))
	same(t, "before", w.askWait(a.request.ID).State, parley.WaitWaiting)
	w.Clock.Advance(time.Millisecond)
	w.NoError(w.SweepWaits(ctx))
	same(t, "after", w.askWait(a.request.ID).State, parley.WaitLate)
}

// A asks B, who asks C, who asks D: D cannot ask. It holds for who names no run too.
func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b", "c", "d", "e")
	by := w.WakeAndStartRun("a").Caller()
	deep := "E005 Error: Maximum agent communication depth (3) reached. Use 'delegate' for async to avoid nesting."
	chain := []*asking{}
	for _, next := range []string{"b", "c", "d"} {
		chain = append(chain, w.beginAsk(by, next, "well?"))
		by = w.StartRun(next).Caller()
	}
	same(t, "the fourth", w.beginAsk(by, "e", "well?").resultText(), deep)
	same(t, "without its run", w.beginAsk(as("d"), "e", "well?").resultText(), deep)
	same(t, "a person", w.beginAsk(user, "d", "well?").request.To, "d")
	same(t, "somebody else", w.beginAsk(as("e"), "d", "well?").request.To, "d")
	resultOf[parley.Run](w)(w.FinishRun(ctx, by.Run, parley.Result{Text: "so"}, nil))
	same(t, "heard", chain[2].resultText(), "Response from d: so")
}

// A asks B, who asks A: another run of A answers, whatever else A is at.
func TestAskedAgentMayAskItsAsker(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("a", "b")
	w.EditAgent("a", func(a *parley.Agent) { a.Concurrency = 1 })
	one := w.WakeAndStartRun("a")
	first := w.beginAsk(one.Caller(), "b", "what?")
	two := w.StartRun("b")
	second := w.beginAsk(two.Caller(), "a", "why?")
	three := w.StartRun("a")
	same(t, "runs", []any{three.Run.Depth, w.RunByID(one.Run.ID).State, w.RunByID(two.Run.ID).State}, []any{2, parley.RunWaiting, parley.RunWaiting})
	w.EndRun(three, "because")
	same(t, "heard", second.resultText(), "Response from a: because")
	w.EndRun(two, "that")
	same(t, "heard", first.resultText(), "Response from b: that")
}

// Asks begin at once: beside each other, while their agent sleeps, and however much else it does.
func TestAsksBeginAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.EditAgent("b", func(a *parley.Agent) { a.Concurrency = 1 })
	w.WakeAndStartRun("b")
	w.SendDM("user", "b", "more work")
	w.AssertIdle("b")
	one, two := w.beginAsk(user, "b", "one"), w.beginAsk(user, "b", "two")
	first, second := w.StartRun("b"), w.StartRun("b")
	w.AssertIdle("b")
	until := began.Add(time.Hour)
	resultOf[parley.Agent](w)(w.Sleep(ctx, user, "b", until))
	three := w.beginAsk(user, "b", "three")
	same(t, "who waits", resultOf[[]string](w)(w.AgentsToWake(ctx)), []string{"b"})
	third := w.StartRun("b")
	same(t, "who waits", resultOf[[]string](w)(w.AgentsToWake(ctx)), []string{})
	for i, r := range []*hub.Assignment{third, second, first} {
		w.EndRun(r, fmt.Sprint(3-i))
	}
	same(t, "heard", []string{one.resultText(), two.resultText(), three.resultText()}, []string{"Response from b: 1", "Response from b: 2", "Response from b: 3"})
	same(t, "it sleeps on", resultOf[parley.Agent](w)(w.Agent(ctx, user, "b")).SleepingUntil, &until)
	w.AssertIdle("b")
}

func TestSlotsOfAsks(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.AddAgents("ned")
	asks := make([]*asking, 16)
	for i := range asks {
		asks[i] = w.beginAsk(user, "b", fmt.Sprint(i))
	}
	full := "E002 Error: b already has 16 open asks, which is the limit. Ask again later, or use 'delegate' for async processing."
	same(t, "the 17th", w.beginAsk(user, "b", "one more").resultText(), full)
	w.StartRun("b")
	same(t, "the 17th", w.beginAsk(user, "b", "one more").resultText(), full)
	w.RunAndAnswer("b", "done")
	w.beginAsk(user, "b", "one more").assertWaiting()
	for i := range 20 {
		w.beginAsk(as("ned"), "user", fmt.Sprint(i)).assertWaiting() // people have no slots
	}
}

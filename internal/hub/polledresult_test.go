package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestResultsNameWhatTheyAnswer: an agent that polls finds the ticket of its ask, its task and its approval in what it takes.
func TestResultsNameWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "ben")
	w.TakeAs("ben", parley.Take{})
	ask := w.beginContact(as("ana"), parley.Contact{Pattern: parley.PatternAsk, Agent: "ben", Message: "well?", Wait: time.Millisecond})
	ask.resultText()
	w.ReplyAs("ben", ask.request.ID, "at last")
	taken := w.TakeAs("ana", parley.Take{})
	same(t, "the answers", textsOf(taken.Messages), []string{"Response from ben: at last"})
	same(t, "the ticket", taken.Answered, parley.ShortNames{ask.request.ID: ask.request.ShortName()})
	peeked := resultOf[parley.Peeked](w)(w.Peek(ctx, as("ana"), 10))
	same(t, "the ticket in a look", peeked.Answered, taken.Answered)
	read := resultOf[parley.NamedMessages](w)(w.HistoryWithNames(ctx, as("ana"), ask.request.Conversation, parley.Page{Limit: 1}))
	same(t, "the ticket in the conversation", read.Answered, taken.Answered)
	whole := resultOf[parley.NamedMessages](w)(w.HistoryWithNames(ctx, as("ana"), ask.request.Conversation, parley.Page{}))
	same(t, "nothing is looked up that is shown", whole.Answered, parley.ShortNames(nil))
	w.AckAs("ana", taken.Messages[0].ID)

	task := w.delegateTo("ben")
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ben"), task.ID, parley.TaskChange{Status: parley.TaskCompleted}))
	result := w.TakeAs("ana", parley.Take{}).Messages
	same(t, "results", len(result), 1)
	same(t, "the task", result[0].Subject(), parley.Subject{Task: task.ID})
	if !result[0].Intact() {
		t.Error("the message has a wrong checksum")
	}
	w.AckAs("ana", result[0].ID)

	w.EditAgent("ana", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
	held := w.HeldApproval(w.TryContact(as("ana"), parley.Contact{Pattern: parley.PatternNotify, Agent: "ben", Message: "news"}))
	w.DecideAs("user", held.ID, parley.Decision{Note: "no"})
	result = w.TakeAs("ana", parley.Take{}).Messages
	same(t, "decisions", len(result), 1)
	same(t, "the approval", result[0].Subject(), parley.Subject{Approval: held.ShortName()})
	w.AssertConsistent()
}

package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// The answer of a run is for whoever sent what it answers. Where that was the hub: whoever began the work.
func TestAnswerIsForTheRequester(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(w *fixture) (about string) // and the next run of writer answers
		to    string
	}{
		"a mention": {func(w *fixture) string { return w.SayIn("user", "open", "@writer hello").Message.ID }, "user"},
		"a DM":      {func(w *fixture) string { return w.SendDM("user", "writer", "hello").Message.ID }, "user"},
		"an ask":    {func(w *fixture) string { return w.beginAsk(user, "writer", "well?").request.ID }, "user"},
		"a task": {func(w *fixture) string {
			return w.TaskByID(w.Delegate(user, "writer", "Draft it")).Message
		}, "user"},
		"a task that is done again": {func(w *fixture) string {
			id := w.Delegate(user, "writer", "Draft it")
			w.FailRunWith(w.StartRun("writer"), parley.FailureFinal)
			return resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, id)).Message
		}, "user"},
		"a result": {func(w *fixture) string {
			id := w.Delegate(user, "writer", "Draft it")
			run := w.StartRun("writer")
			w.Delegate(run.Caller(), "data", "Pull figures")
			w.EndRun(run, "wait for it")
			w.RunAndAnswer("data", "42")
			return w.TaskByID(id).Message
		}, "user"},
		"what was asked and late": {func(w *fixture) string {
			m := w.SayIn("user", "open", "@writer hello").Message
			run := w.StartRun("writer")
			asks := w.beginContact(run.Caller(), parley.Contact{Pattern: parley.PatternAsk, Agent: "data", Message: "well?", Wait: time.Millisecond})
			asks.resultText()
			w.EndRun(run, "wait for it")
			w.RunAndAnswer("data", "42")
			return m.ID
		}, "user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			w.NoError(w.Join(ctx, as("writer"), "open"))
			about := c.begin(w)
			m := w.RunAndAnswer("writer", "the draft")
			same(t, "it answers", []string{m.InReplyTo, m.To}, []string{about, c.to})
		})
	}
}

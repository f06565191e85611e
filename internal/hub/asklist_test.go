package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// questionsSeenBy returns the questions of the asks that a participant can list.
func (w *fixture) questionsSeenBy(by string, f parley.AskFilter) []string {
	w.T.Helper()
	questions := []string{}
	for _, view := range resultOf[[]parley.AskView](w)(w.Asks(ctx, as(by), f)) {
		questions = append(questions, view.Question)
	}
	return questions
}

// A plain ask has no task, but is listed, with the asker, the asked participant and its state.
func TestPlainAsksAreListed(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	run := w.WakeAndStartRun("a")
	first := w.beginAsk(run.Caller(), "b", "what is it?\nand why?")
	since := w.askWait(first.request.ID).Since
	got := resultOf[[]parley.AskView](w)(w.Asks(ctx, as("a"), parley.AskFilter{Open: true}))
	same(t, "waiting", got, []parley.AskView{{
		Message: first.request.ID, Seq: first.request.Seq, Conversation: first.request.Conversation, From: "a", FromName: "a", To: "b", ToName: "b",
		Question: "what is it?", Source: "agent_ask",
		AskState: parley.AskState{State: parley.WaitWaiting, Since: since, Until: since.Add(120 * time.Second)},
	}})
	same(t, "tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 0)
	w.RunAndAnswer("b", "it is 42")
	same(t, "heard", first.resultText(), "Response from b: it is 42")
	second := w.beginAsk(run.Caller(), "b", strings.Repeat("ä", 100))
	same(t, "open", w.questionsSeenBy("a", parley.AskFilter{Open: true}), []string{strings.Repeat("ä", 79) + "…"})
	all := resultOf[[]parley.AskView](w)(w.Asks(ctx, as("b"), parley.AskFilter{}))
	same(t, "all", []any{len(all), all[0].Message, all[1].State, all[1].EndedAt != nil}, []any{2, second.request.ID, parley.WaitAnswered, true})
	same(t, "a page", w.questionsSeenBy("b", parley.AskFilter{Before: all[0].Seq, Limit: 1}), []string{"what is it?"})
}

// Owners see all asks. Other participants see the asks they made or were asked.
func TestAsksAreIsolated(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "rickon", Kind: parley.KindHuman}))
	w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "secret?")
	w.beginAsk(as("rickon"), "c", "mine?")
	for by, sees := range map[string][]string{
		"user": {"mine?", "secret?"}, "a": {"secret?"}, "b": {"secret?"}, "c": {"mine?"}, "rickon": {"mine?"},
	} {
		for _, open := range []bool{true, false} {
			same(t, by+" lists", w.questionsSeenBy(by, parley.AskFilter{Open: open}), sees)
		}
	}
}

// An ask that has become a task is listed once, with the task, for those who may see that.
func TestListedAskNamesItsTask(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	for _, by := range []string{"user", "a", "b"} {
		got := resultOf[[]parley.AskView](w)(w.Asks(ctx, as(by), parley.AskFilter{}))
		same(t, by+" sees", []any{len(got), got[0].Message, got[0].Task}, []any{1, p.request.ID, p.task})
	}
	same(t, "c sees", w.questionsSeenBy("c", parley.AskFilter{}), []string{})
	_, err := w.ReassignTask(ctx, user, p.task, "c")
	w.NoError(err)
	got := resultOf[[]parley.AskView](w)(w.Asks(ctx, as("b"), parley.AskFilter{}))
	same(t, "b sees", []any{len(got), got[0].Task}, []any{1, ""})
}

// In strict mode a list of asks needs an approval, like a list of tasks. The approved list is delivered.
func TestStrictAgentListsAsksWithAnApproval(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.beginAsk(as("user"), "a", "secret?")
	w.EditAgent("a", func(a *parley.Agent) { a.Mode = parley.ModeStrict })
	held := w.HeldApproval(errorOf(w.Asks(ctx, as("a"), parley.AskFilter{Open: true})))
	if !strings.Contains(held.Summary, "list asks") {
		t.Errorf("the summary is %q", held.Summary)
	}
	done := w.DecideAs("user", held.ID, parley.Decision{Approve: true})
	if !strings.Contains(done.Result, `"question":"secret?"`) {
		t.Errorf("told: %+v", done)
	}
}

// A trace shows beside each question where the ask stands, and beside nothing else.
func TestTraceShowsWhereAsksStand(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	states := func(by string) map[string]parley.AskState {
		found := map[string]parley.AskState{}
		for _, m := range resultOf[parley.Traced](w)(w.Trace(ctx, as(by), p.request.ID)).Items {
			if m.Ask != nil {
				found[m.ID] = *m.Ask
			}
		}
		return found
	}
	wait := w.askWait(p.request.ID)
	want := parley.AskState{State: parley.WaitWaiting, Since: wait.Since, Until: wait.Until, Task: p.task}
	for _, by := range []string{"user", "a", "b"} {
		same(t, by+" sees", states(by), map[string]parley.AskState{p.request.ID: want})
	}
	w.RunAndAnswer("c", "it is 42")
	w.RunAndAnswer("b", "c says 42")
	p.resultText()
	ended := states("a")[p.request.ID]
	same(t, "ended", []any{ended.State, ended.EndedAt != nil}, []any{parley.WaitAnswered, true})
}

// The first line of a question is cut out of what is stored; redaction and removal leave the ask in the list.
func TestAsksOutliveTheirWordsAndParticipants(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	ask := w.beginAsk(as("user"), "b", "secret?")
	w.RunAndAnswer("b", "yes")
	ask.resultText()
	_, err := w.Redact(ctx, user, ask.request.ID, "a secret")
	w.NoError(err)
	w.NoError(w.RemoveAgent(ctx, user, "b"))
	got := resultOf[[]parley.AskView](w)(w.Asks(ctx, user, parley.AskFilter{}))
	same(t, "listed", []any{len(got), got[0].To, got[0].State, strings.Contains(got[0].Question, "secret")}, []any{1, "b", parley.WaitAnswered, false})
}

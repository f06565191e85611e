package hub_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// runContextOf returns the context of a run, from which its prompt is built.
func (w *fixture) runContextOf(run string) parley.RunContext {
	w.T.Helper()
	return resultOf[parley.RunContext](w)(w.RunContext(ctx, run))
}

func TestRunContextIsTheEndOfItsConversation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.AddAgents("ned")
	w.EditAgent("codex", func(a *parley.Agent) { a.ContextMessages = 3 })
	w.CreateChannel("user", "open", "codex", "ned")
	w.SayIn("user", "open", "@codex one")
	for i := range 4 {
		w.SayIn("ned", "open", fmt.Sprint(i))
	}
	w.SayIn("user", "open", "@codex two")
	w.NoError(w.Leave(ctx, as("ned"), "open"))
	a := w.NextRunOf("codex")
	c := w.runContextOf(a.Run.ID)
	same(t, "history", textsOf(c.History), []string{"2", "3"})
	same(t, "triggers", textsOf(c.Triggers), []string{"@codex one", "@codex two"})
	ids := func(list []parley.Agent) (ids []string) {
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		return ids
	}
	same(t, "members", ids(c.Members), []string{"user", "codex"})
	same(t, "other senders", ids(c.Senders), []string{"ned"})
	same(t, "whose, and where", []any{c.Agent.ID, c.Conversation.Name, c.Resumed}, []any{"codex", "open", false})
}

// Where a client's session goes on it is told what it does not know: what was said since the last message that
// woke it, but for what it said itself.
func TestResumedSessionGetsOnlyNewMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	turn := func(words string) (r parley.Run, c parley.RunContext) {
		w.SayIn("user", "open", "@codex "+words)
		a := w.StartRun("codex")
		c = w.runContextOf(a.Run.ID)
		w.SayIn("user", "open", "while "+words)
		w.PostFromRun(a, parley.Draft{Conversation: "open", Content: text("said " + words)})
		result := parley.Result{Text: "answer " + words, Session: "session " + words}
		return resultOf[parley.Run](w)(w.FinishRun(ctx, a.Run.ID, result, nil)), c
	}
	_, c := turn("one")
	same(t, "the first", []any{c.Resumed, c.Run.Session, textsOf(c.History)}, []any{false, "", []string{}})
	same(t, "there is nothing to lose", c.Fresh(), c)
	w.Clock.Advance(7 * time.Hour)
	_, c = turn("two")
	same(t, "the second", []any{c.Resumed, c.Run.Session, textsOf(c.History)}, []any{true, "session one", []string{"while one"}})
	// Should it be lost, there is all that a new one has to know.
	all := []string{"@codex one", "while one", "said one", "answer one"}
	same(t, "without it", []any{textsOf(c.Fresh().History), c.Fresh().Resumed}, []any{all, false})
	// A session belongs to the client that opened it.
	w.EditAgent("codex", func(a *parley.Agent) { a.Runtime = "other" })
	_, c = turn("three")
	same(t, "another client", []any{c.Resumed, c.Run.Session, len(c.History)}, []any{false, "", 8})
	w.Clock.Advance(9 * time.Hour)
	_, c = turn("four")
	same(t, "after 8 idle hours", []any{c.Resumed, c.Run.Session, len(c.History)}, []any{false, "", 12})
}

func TestRunContextIsRefusedToAFormerMember(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	id := w.CreatePrivateChannel("user", "secret", "codex").ID
	w.SayIn("user", "secret", "@codex")
	a := w.NextRunOf("codex")
	w.NoError(w.RemoveMember(ctx, user, "secret", "codex"))
	_, err := w.RunContext(ctx, a.Run.ID)
	same(t, "refused", parley.AsError(err).Message, fmt.Sprintf("there is no conversation %q", id))
}

// TestRunContextStaysWithinTheRightsOfTheAgent posts at random, and looks at what every run is given.
func TestRunContextStaysWithinTheRightsOfTheAgent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := openFixture(r, stores.NewPlace(t), mayLoop)
		agents := []string{"a1", "b2", "c3"}
		w.AddScriptAgents(agents...)
		rooms := []string{"one", "two"}
		for i, room := range rooms {
			w.CreatePrivateChannel("user", room, agents[i], agents[i+1])
		}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			from := rapid.SampledFrom(append(agents, "user")).Draw(r, "from")
			to := rapid.SampledFrom(agents).Draw(r, "to")
			room := rapid.SampledFrom(rooms).Draw(r, "room")
			switch rapid.IntRange(0, 4).Draw(r, "what") {
			case 0:
				_, _ = w.Post(ctx, as(from), parley.Draft{Conversation: room, Content: text("@" + to + " " + room)})
			case 1:
				_, _ = w.Post(ctx, as(from), parley.Draft{Direct: []string{to}, Content: text("hello")})
			case 2:
				_ = w.RemoveMember(ctx, user, room, to)
			default:
				if a := w.NextRunOf(to); a != nil {
					w.assertContextWithinRights(to, a.Run)
					_, err := w.Post(ctx, a.Caller(), parley.Draft{Conversation: room, Content: text("from a run")})
					if err == nil && rapid.Bool().Draw(r, "fails") {
						w.FailRunWith(a, parley.FailureLost)
						w.AdvanceLeases(time.Minute)
					} else {
						w.EndRun(a, "done")
					}
				}
			}
		}
		w.AssertConsistent()
	})
}

// assertContextWithinRights requires that the context of a run has no message that its agent may not read. History and triggers must
// be from the conversation of the run.
func (w *fixture) assertContextWithinRights(agent string, r parley.Run) {
	w.T.Helper()
	c, err := w.RunContext(ctx, r.ID)
	if err != nil {
		return // it is not in the conversation any more
	}
	for _, m := range slices.Concat(c.History, c.Triggers, c.Earlier) {
		if _, err := w.Message(ctx, as(agent), m.ID); err != nil {
			w.T.Errorf("%s is given %q, which it may not read", agent, m.Content.Text)
		}
	}
	for _, m := range slices.Concat(c.History, c.Triggers) {
		same(w.T, "where it was said", m.Conversation, r.Conversation)
	}
}

// The request that began a task is shown to each of its runs, though the conversation has gone on since.
func TestTheRequestOfATaskIsKept(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "smith")
	w.EditAgent("codex", func(a *parley.Agent) { a.ContextMessages = 2 })
	made := resultOf[parley.Contacted](w)(w.Contact(ctx, user, parley.Contact{Pattern: parley.PatternDelegate, Agent: "codex", Message: "Forge a sword"}))
	a := w.StartRun("codex")
	first := w.runContextOf(a.Run.ID)
	same(t, "at first", []any{first.Task.ID, first.Request == nil}, []any{made.Task, true})
	caller := as("codex")
	caller.Run = a.Run.ID
	resultOf[parley.Contacted](w)(w.Contact(ctx, caller, parley.Contact{Pattern: parley.PatternDelegate, Agent: "smith", Message: "Heat the iron"}))
	w.EndRun(a, "The smith is at it.")
	w.RunAndAnswer("smith", "It is hot.")
	later := w.runContextOf(w.StartRun("codex").Run.ID)
	if later.Request == nil || later.Request.ID != made.Message || later.Task.ID != made.Task {
		t.Errorf("the request is %+v, the task %+v", later.Request, later.Task)
	}
}

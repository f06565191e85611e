package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/tools"
)

// newHeldMemory returns a hub in which intern has written a private note and one in the channel forge, before it got a mode. Its
// manager boss does not read the channel.
func newHeldMemory(t *testing.T, mode parley.Mode) (w *fixture, private, shared parley.Note) {
	t.Helper()
	w = newHub(t, runTwice)
	w.addInternOffice()
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode = parley.ModeAutonomous })
	w.CreatePrivateChannel("intern", "forge", "senior", "user")
	private, shared = w.remember("intern", "", "mine"), w.remember("intern", "forge", "ours")
	w.EditAgent("intern", func(a *parley.Agent) { a.Mode = mode })
	return w, private, shared
}

// SPEC 7.1: a write to a memory that others share needs an approval, in the conversation that woke the agent too. It is made once.
func TestSharedMemoryIsHeld(t *testing.T) {
	for _, mode := range []parley.Mode{parley.ModeSupervised, parley.ModeStrict} {
		for name, c := range map[string]struct {
			call                    func(*fixture, parley.Note) error
			summary, denied, result string
			left                    []string
		}{
			"remember": {
				func(w *fixture, _ parley.Note) error {
					n := newNote("#forge", "a plan\nAction: nothing")
					n.IdempotencyKey = parley.CallKey(fmt.Sprint(w.LastEventNumber())) // another one in each call
					return errorOf(w.Remember(ctx, as("intern"), n))
				},
				"InternBot wants to remember a note in the memory of #forge:\nAction: remember\nNote:\n| a plan\n| Action: nothing\n\n[Approve] [Deny]",
				"Approval denied for remembering a note in the memory of #forge.", "Noted as note-3.",
				[]string{"a plan\nAction: nothing", "ours"},
			},
			"forget": {
				func(w *fixture, shared parley.Note) error { return w.Forget(ctx, as("intern"), shared.ID) },
				"InternBot wants to forget note-2:\nAction: forget\nNote: \"ours\"\n\n[Approve] [Deny]",
				"Approval denied for forgetting note-2.", "note-2 is forgotten.", nil,
			},
		} {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				t.Parallel()
				w, _, shared := newHeldMemory(t, mode)
				a := w.HeldApproval(c.call(w, shared))
				same(t, "the request", []string{a.Summary, a.Rule, a.Decider}, []string{c.summary, "mode " + string(mode), "boss"})
				same(t, "the same call", w.HeldApproval(c.call(w, shared)).ID, a.ID)
				same(t, "before the decision", w.recall("user", inConversation("forge")), []string{"ours"})
				w.Restart()
				done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
				same(t, "what came of it", []any{done.State, done.Failure, done.Result}, []any{parley.ApprovalExecuted, (*parley.Error)(nil), c.result})
				same(t, "after it", w.recall("user", inConversation("forge")), c.left)
				told := w.MessagesFrom(w.DMBetween("boss", "intern"), parley.System)
				same(t, "the caller is told", told[len(told)-1].Content.Text, c.result)
				w.AssertCode(parley.BadInput, errorOf(w.Decide(ctx, user, a.ID, parley.Decision{Approve: true})))
				w.AssertConsistent()
			})
			t.Run(string(mode)+"/"+name+" denied", func(t *testing.T) {
				t.Parallel()
				w, _, shared := newHeldMemory(t, mode)
				a := w.HeldApproval(c.call(w, shared))
				w.DecideAs("boss", a.ID, parley.Decision{})
				told := w.MessagesFrom(w.DMBetween("boss", "intern"), parley.System)
				same(t, "the caller is told", told[len(told)-1].Content.Text, c.denied)
				same(t, "after it", w.recall("user", inConversation("forge")), []string{"ours"})
			})
		}
	}
}

// The approved call is refused if it may no longer be made.
func TestApprovedNotesObeyTheRightsOfTheMoment(t *testing.T) {
	t.Parallel()
	w, _, shared := newHeldMemory(t, parley.ModeSupervised)
	remember := w.HeldApproval(errorOf(w.Remember(ctx, as("intern"), newNote("forge", "plan"))))
	forget := w.HeldApproval(w.Forget(ctx, as("intern"), shared.ID))
	w.NoError(w.RemoveMember(ctx, user, "forge", "intern"))
	for _, a := range []parley.Approval{remember, forget} {
		done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		if done.Failure == nil || !strings.Contains(done.Failure.Message, "there is no ") {
			t.Errorf("%s: %+v", a.Summary, done.Failure)
		}
	}
	same(t, "what is left", w.recall("user", inConversation("forge")), []string{"ours"})
}

func TestPrivateMemoryIsTheAgentsOwn(t *testing.T) {
	t.Parallel()
	w, private, _ := newHeldMemory(t, parley.ModeSupervised)
	w.remember("intern", "", "another")
	w.NoError(w.Forget(ctx, as("intern"), private.ID))
	same(t, "recalled", w.recall("intern", parley.NoteFilter{}), []string{"another"})
	same(t, "recalled of the conversation", w.recall("intern", inConversation("forge")), []string{"ours"})
	same(t, "nothing to do", w.remember("intern", "forge", "ours").ID, "note-2")
}

// SPEC 7.1: strict holds all tools. What it recalls comes with the approval.
func TestStrictHoldsAllMemory(t *testing.T) {
	t.Parallel()
	w, private, _ := newHeldMemory(t, parley.ModeStrict)
	w.HeldApproval(w.Forget(ctx, as("intern"), private.ID))
	remember := w.HeldApproval(errorOf(w.Remember(ctx, as("intern"), newNote("", "another"))))
	same(t, "the request", remember.Summary, "InternBot wants to remember a note in its own memory:\nAction: remember\nNote: \"another\"\n\n[Approve] [Deny]")
	w.DecideAs("boss", remember.ID, parley.Decision{Approve: true})
	own := w.HeldApproval(errorOf(w.Recall(ctx, as("intern"), parley.NoteFilter{Query: "another"})))
	same(t, "the request", own.Summary, "InternBot wants to recall its own memory:\nAction: recall\nQuery: \"another\"\n\n[Approve] [Deny]")
	if done := w.DecideAs("boss", own.ID, parley.Decision{Approve: true}); !strings.Contains(done.Result, `"text":"another"`) || strings.Contains(done.Result, "mine") {
		t.Errorf("recalled %s, %v", done.Result, done.Failure)
	}
	shared := w.HeldApproval(errorOf(w.Recall(ctx, as("intern"), inConversation("#forge"))))
	same(t, "the request", shared.Summary, "InternBot wants to recall the memory of #forge:\nAction: recall\n\n[Approve] [Deny]")
}

// A supervised agent may post in the conversation that woke it. A note there outlives the conversation, and needs an approval.
func TestARunOfASupervisedAgentIsHeld(t *testing.T) {
	t.Parallel()
	w, _, _ := newHeldMemory(t, parley.ModeSupervised)
	w.SayIn("user", "forge", "@intern remember the plan")
	a := w.StartRun("intern")
	by := hub.Caller{Agent: "intern", Run: a.Run.ID, Source: "run"}
	held := w.HeldApproval(errorOf(w.Remember(ctx, by, parley.NewNote{Scope: parley.ConversationNote, Text: "plan"})))
	w.EndRun(a, "I asked.")
	done := w.DecideAs("boss", held.ID, parley.Decision{Approve: true})
	same(t, "done", []any{done.Result, done.Failure}, []any{"Noted as note-3.", (*parley.Error)(nil)})
	redacted := resultOf[parley.Note](w)(w.RedactNote(ctx, user, "note-3", "a password"))
	left := w.ApprovalByID(held.ID)
	same(t, "the approval after the redaction", []string{redacted.Text, string(left.Call.Args), left.Summary, left.Result}, []string{"", "{}", "", ""})
}

// A model is told that its call waits, and of a note that is not its own only that there is none.
func TestMemoryAsATool(t *testing.T) {
	t.Parallel()
	w, _, shared := newHeldMemory(t, parley.ModeSupervised)
	call := func(by, args string) string {
		result, err := tools.Call(ctx, tools.Participant{ID: by, Workspace: w.At(as(by))}, "memory", json.RawMessage(args))
		if err != nil {
			return tools.Failure(err)
		}
		return result.Text
	}
	held := func(approval string) string {
		return parley.HeldText + "\nThe call has not been made: it waits for " + approval + ", and its outcome comes to your inbox.\n"
	}
	same(t, "a private note", call("intern", `{"action":"remember","text":"steel"}`), "Noted as note-3.\n")
	same(t, "a shared note", call("intern", `{"action":"remember","conversation":"forge","text":"plan"}`), held("approval-1"))
	same(t, "a shared note is forgotten", call("intern", `{"action":"forget","note":"`+shared.ID+`"}`), held("approval-2"))
	same(t, "a foreign note", call("senior", `{"action":"forget","note":"note-3"}`), `Error: there is no note "note-3" (check the name)`)
	same(t, "no conversation", call("senior", `{"action":"recall","scope":"conversation"}`), "Error: the call names no conversation (name one, by its id or #name)")
	if got := call("senior", `{"action":"recall","conversation":"#forge","query":"what is ours?"}`); !strings.Contains(got, "from intern \"InternBot\" (agent)") || !strings.Contains(got, "\n| ours\n") {
		t.Errorf("recalled %q", got)
	}
}

package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// bash is the use of a shell.
func bash(command string) parley.ToolUse {
	input, _ := json.Marshal(map[string]string{"command": command})
	return parley.ToolUse{Client: "claude", Session: "s-1", Tool: "Bash", Input: input}
}

// requestUse asks for the use of a tool as arya, and returns the pending approval and what the call returns later.
func requestUse(ctx context.Context, w *fixture, use parley.ToolUse) (parley.Approval, <-chan decidedUse) {
	w.T.Helper()
	done := make(chan decidedUse, 1)
	before := len(w.pendingOf("arya"))
	go func() {
		a, err := w.RequestToolUse(ctx, hub.Caller{Agent: "arya"}, use, parley.MaxToolUseWait)
		done <- decidedUse{a, err}
	}()
	for {
		if list := w.pendingOf("arya"); len(list) > before {
			return list[0], done
		}
		select {
		case early := <-done:
			w.T.Fatalf("it returned %+v", early)
		case <-time.After(time.Millisecond):
		}
	}
}

type decidedUse struct {
	parley.Approval
	err error
}

func (w *fixture) pendingOf(agent string) []parley.Approval {
	w.T.Helper()
	list, err := w.Approvals(ctx, user, parley.ApprovalFilter{Agent: agent, State: parley.ApprovalPending})
	w.NoError(err)
	return list
}

// TestAPersonDecidesOnTheUseOfATool: the client learns the decision, only from a person, and the agent gets no message.
func TestAPersonDecidesOnTheUseOfATool(t *testing.T) {
	for _, approve := range []bool{true, false} {
		w := newHub(t)
		w.AddScriptAgents("boss")
		w.addNamedAgent("arya", "Arya", func(p *parley.Profile) { p.Manager = "boss" })
		a, done := requestUse(ctx, w, bash("make deploy\n[Approved]"))
		if a.Agent != "arya" || a.Decider != "" || !a.RequiresHuman || a.Call.Tool != "use_tool" || a.ExpiresAt == nil {
			t.Errorf("approval %+v", a)
		}
		if want := "Arya wants to use Bash:\nAction: use_tool\nClient: \"claude\"\nCommand:\n| make deploy\n| [Approved]\n\n[Approve] [Deny]"; a.Summary != want {
			t.Errorf("summary %q", a.Summary)
		}
		for _, other := range []string{"arya", "boss"} {
			if _, err := w.Decide(ctx, hub.Caller{Agent: other}, a.ID, parley.Decision{Approve: true}); parley.CodeOf(err) != parley.NotPermitted {
				t.Errorf("%s decides: %v", other, err)
			}
		}
		w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: approve, Note: "by hand"})
		want, result := parley.ApprovalDenied, ""
		if approve {
			want, result = parley.ApprovalExecuted, "Allowed. The hub does not learn whether the client used the tool."
		}
		if got := <-done; got.err != nil || got.State != want || got.Result != result || got.Note != "by hand" || got.Digest != a.Digest {
			t.Errorf("decided %+v", got)
		}
		if peeked, err := w.Peek(ctx, hub.Caller{Agent: "arya"}, 10); err != nil || len(peeked.Messages) > 0 {
			t.Errorf("arya got %+v, %v", peeked.Messages, err)
		}
		w.AssertConsistent()
	}
}

// TestTheUseOfAToolEndsWithItsRequest: nobody can decide about the call of a client that has gone or that stopped waiting.
func TestTheUseOfAToolEndsWithItsRequest(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya")
	gone, leave := context.WithCancel(ctx)
	a, done := requestUse(gone, w, bash("ls"))
	leave()
	if got := <-done; got.err == nil || w.ApprovalByID(a.ID).State != parley.ApprovalWithdrawn {
		t.Errorf("it returned %+v, and the approval is %s", got, w.ApprovalByID(a.ID).State)
	}
	late, err := w.RequestToolUse(ctx, hub.Caller{Agent: "arya"}, bash("ls"), time.Millisecond)
	if err != nil || late.State != parley.ApprovalExpired || late.ID == a.ID {
		t.Errorf("after its time it is %+v, %v", late, err)
	}
	if _, err := w.Decide(ctx, user, late.ID, parley.Decision{Approve: true}); parley.AsError(err).Reason != parley.Conflict {
		t.Errorf("a late decision: %v", err)
	}
	w.AssertConsistent()
}

// TestUsesOfToolsAreBounded: an agent waits for at most 16 of them, and the same call waits for the same approval.
func TestUsesOfToolsAreBounded(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya")
	for n := range 16 {
		requestUse(t.Context(), w, bash(strings.Repeat("x", n+1)))
	}
	if _, err := w.RequestToolUse(ctx, hub.Caller{Agent: "arya"}, bash("ls"), time.Hour/60); parley.CodeOf(err) != parley.Unavailable {
		t.Errorf("the 17th: %v", err)
	}
}

func TestRefusedUsesOfTools(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya")
	arya := hub.Caller{Agent: "arya"}
	for name, refused := range map[string]struct {
		caller hub.Caller
		use    parley.ToolUse
		wait   time.Duration
	}{
		"a person":      {user, bash("ls"), time.Second},
		"no tool":       {arya, parley.ToolUse{Client: "claude"}, time.Second},
		"no client":     {arya, parley.ToolUse{Tool: "Bash"}, time.Second},
		"no object":     {arya, parley.ToolUse{Client: "claude", Tool: "Bash", Input: []byte("[1]")}, time.Second},
		"a double key":  {arya, parley.ToolUse{Client: "claude", Tool: "Bash", Input: []byte(`{"a":1,"a":2}`)}, time.Second},
		"a large input": {arya, bash(strings.Repeat("x", 64<<10)), time.Second},
		"a bad session": {arya, parley.ToolUse{Client: "claude", Tool: "Bash", Session: "a b"}, time.Second},
		"no wait":       {arya, bash("ls"), 0},
		"a long wait":   {arya, bash("ls"), time.Hour},
	} {
		if _, err := w.RequestToolUse(ctx, refused.caller, refused.use, refused.wait); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := w.pendingOf("arya"); len(list) > 0 {
		t.Errorf("stored %+v", list)
	}
}

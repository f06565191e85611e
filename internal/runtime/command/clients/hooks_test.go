//go:build clients

package clients

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// TestClaudeIsWokenByAHook: Claude Code is idle on a terminal. A message wakes it by the hook at the end of its turn, it answers by the
// tool reply, and the sender sees answered.
func TestClaudeIsWokenByAHook(t *testing.T) {
	a := openClaude(t)
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if id := messageIn(r, "the tangerines"); id != "" && len(r.Tools) > 0 && !r.HasText("Sent to") {
			return call("mcp__parley__reply", object{"message": id, "content": "They are ripe."})
		}
		return theAnswer
	})
	a.say(t, "hello")
	a.term.Await(answer)
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
	a.api.findRequest(t, "You are connected to Parley as ana.")
}

// TestDoctorFollowsAMessage: parley doctor --deep sends Claude Code a message, and reports that it was answered.
func TestDoctorFollowsAMessage(t *testing.T) {
	a := openClaude(t)
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if id := messageIn(r, "a test by parley doctor"); id != "" && len(r.Tools) > 0 && !r.HasText("Sent to") {
			return call("mcp__parley__reply", object{"message": id, "content": "pong"})
		}
		return theAnswer
	})
	a.say(t, "hello")
	a.term.Await(answer)
	found := a.parley(t, "doctor", "--deep")
	for _, words := range []string{"Claude Code is connected as ana: MCP server and hooks are registered", "woken by its hook", "a message to ana is answered"} {
		if !strings.Contains(found, words) {
			t.Errorf("doctor does not say %q:\n%s", words, found)
		}
	}
}

// TestClaudeHearsOfMailWhileBusy: a message comes while Claude Code uses a tool. It is in the context of the next request of the same
// turn, and is seen then.
func TestClaudeHearsOfMailWhileBusy(t *testing.T) {
	a := openClaude(t)
	write(t, filepath.Join(a.work, "wait.sh"), "touch begun-$1; until [ -e go-$1 ]; do sleep 0.1; done")
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		switch results := strings.Count(string(r.Body), `"type":"tool_result"`); {
		case len(r.Tools) == 0 || results > 1 || !r.HasText("work, please"):
			return theAnswer
		default:
			return call("Bash", object{"command": "sh wait.sh " + strconv.Itoa(results), "description": "works"})
		}
	})
	a.say(t, "work, please")
	a.awaitFile(t, "begun-0")
	var sent parley.Receipt
	read(t, a.parley(t, "send", "ana", "--dm", "The tangerines are ripe.", "-o", "json"), &sent)
	if state := sent.Deliveries[0].State; state != parley.DeliveryAccepted {
		t.Errorf("while the tool runs it is %s", state)
	}
	write(t, filepath.Join(a.work, "go-0"), "")
	a.awaitFile(t, "begun-1")
	a.api.findRequest(t, "| The tangerines are ripe.")
	if got := a.stateOf(t, sent.Message.ID); got != parley.DeliverySeen {
		t.Errorf("in the turn it is %s", got)
	}
	write(t, filepath.Join(a.work, "go-1"), "")
	a.awaitState(t, sent.Message.ID, parley.DeliveryAcked)
}

// TestClaudeAsksByAnApproval: a person allows or denies the use of a tool by parley approval, and Claude Code obeys.
func TestClaudeAsksByAnApproval(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(strconv.FormatBool(allow), func(t *testing.T) {
			a := openClaude(t)
			write(t, filepath.Join(a.work, "deploy.sh"), "touch deployed")
			a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if len(r.Tools) == 0 || strings.Contains(string(r.Body), `"type":"tool_result"`) || !r.HasText("deploy it") {
					return theAnswer
				}
				return call("Bash", object{"command": "sh deploy.sh", "description": "deploys"})
			})
			a.say(t, "deploy it")
			pending := a.awaitApproval(t)
			if !strings.Contains(pending.Summary, `Command: "sh deploy.sh"`) || pending.Agent != "ana" {
				t.Errorf("approval %+v", pending)
			}
			decision := map[bool]string{true: "approve", false: "deny"}[allow]
			a.parley(t, "approval", decision, pending.ShortName(), "--note", "because")
			a.term.Await(answer)
			_, err := os.Stat(filepath.Join(a.work, "deployed"))
			if deployed := err == nil; deployed != allow {
				t.Errorf("deployed: %v\n%s", deployed, a.term.Screen())
			}
			if !allow {
				a.api.findRequest(t, "Denied in Parley by user. Note: because")
			}
		})
	}
}

// awaitApproval waits for a pending approval.
func (a *attached) awaitApproval(t *testing.T) parley.Approval {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if list := lines[parley.Approval](t, a.parley(t, "approval", "list", "-o", "jsonl")); len(list) > 0 {
			return list[0]
		}
		if time.Now().After(late) {
			t.Fatalf("there is no approval\n%s", a.screen())
		}
	}
}

// awaitApprovalState waits until an approval has a state.
func (a *attached) awaitApprovalState(t *testing.T, of parley.Approval, state parley.ApprovalState) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var now parley.Approval
		read(t, a.parley(t, "approval", "show", of.ShortName(), "-o", "json"), &now)
		if now.State == state {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the approval is %s\n%s", now.State, a.screen())
		}
	}
}

// TestThePersonAnswersInTheClient: the person uses the dialog of Claude Code. Then nobody can decide about the approval any more.
func TestThePersonAnswersInTheClient(t *testing.T) {
	a := openClaude(t)
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if len(r.Tools) == 0 || strings.Contains(string(r.Body), `"type":"tool_result"`) || !r.HasText("deploy it") {
			return theAnswer
		}
		return call("Bash", object{"command": "sh deploy.sh", "description": "deploys"})
	})
	a.say(t, "deploy it")
	pending := a.awaitApproval(t)
	a.term.Await("Do you want to proceed?")
	a.pressEnter(t, "Do you want to proceed?")
	a.awaitApprovalState(t, pending, parley.ApprovalWithdrawn)
}

// TestIdleClientsAreWoken: each client has ended its turn on a terminal. A message begins a turn in which it answers by its tool, and
// the sender sees answered.
func TestIdleClientsAreWoken(t *testing.T) {
	for name, test := range map[string]struct {
		open  func(*testing.T) *attached
		reply string // the client's name of the tool
	}{
		"codex":    {openFreeCodex, "mcp__parley/reply"},
		"gemini":   {openGemini, "mcp_parley_reply"},
		"opencode": {openOpenCode, "parley_reply"},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.open(t)
			a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if id := messageIn(r, "the tangerines"); id != "" && len(r.Tools) > 0 && !r.HasText("Sent to") && !strings.Contains(string(r.Body), "They are ripe.") {
					return call(test.reply, object{"message": id, "content": "They are ripe."})
				}
				return theAnswer
			})
			a.say(t, "hello")
			a.term.Await(answer)
			if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
				t.Errorf("it answered %q", text)
			}
		})
	}
}

// TestCodexHearsOfMailWhileBusy: a message comes while Codex uses a tool. It is in the next request of the same turn. At the end of the
// turn, another one prolongs it.
func TestCodexHearsOfMailWhileBusy(t *testing.T) {
	a := openFreeCodex(t)
	write(t, filepath.Join(a.work, "wait.sh"), "touch begun; until [ -e go ]; do sleep 0.1; done")
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		switch {
		case !r.HasText("work, please") || len(r.Tools) == 0:
			return theAnswer
		case !strings.Contains(string(r.Body), "function_call_output"):
			return call("exec_command", object{"cmd": "sh wait.sh"})
		default:
			return theAnswer
		}
	})
	a.say(t, "work, please")
	a.awaitFile(t, "begun")
	var sent parley.Receipt
	read(t, a.parley(t, "send", "ana", "--dm", "The tangerines are ripe.", "-o", "json"), &sent)
	write(t, filepath.Join(a.work, "go"), "")
	a.term.Await(answer)
	a.api.findRequest(t, "| The tangerines are ripe.")
	a.awaitState(t, sent.Message.ID, parley.DeliveryAcked)
}

// TestCodexAsksByAnApproval: a person allows the use of a tool by parley approval, and Codex uses it outside of its sandbox.
func TestCodexAsksByAnApproval(t *testing.T) {
	a := openCodex(t, "--ask-for-approval", "on-request", "--sandbox", "read-only")
	write(t, filepath.Join(a.work, "deploy.sh"), "touch deployed")
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if !r.HasText("deploy it") || len(r.Tools) == 0 || strings.Contains(string(r.Body), "function_call_output") {
			return theAnswer
		}
		return call("exec_command", object{"cmd": "sh deploy.sh", "sandbox_permissions": "require_escalated", "justification": "deploys"})
	})
	a.say(t, "deploy it")
	pending := a.awaitApproval(t)
	if !strings.Contains(pending.Summary, `Command: "sh deploy.sh"`) || pending.Agent != "ana" {
		t.Errorf("approval %+v", pending)
	}
	a.parley(t, "approval", "approve", pending.ShortName())
	a.awaitFile(t, "deployed")
	a.term.Await(answer)
}

// TestOthersHearOfMailWhileBusy: a message comes while Gemini CLI or OpenCode uses a tool. It is in a request of the same turn.
func TestOthersHearOfMailWhileBusy(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *attached{"gemini": openGemini, "opencode": openOpenCode} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			write(t, filepath.Join(a.work, "wait.sh"), "touch begun; until [ -e go ]; do sleep 0.1; done")
			var called atomic.Bool
			a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if len(r.Tools) > 0 && r.HasText("work, please") && !called.Swap(true) {
					return a.shell.calls("sh wait.sh")
				}
				return theAnswer
			})
			a.say(t, "work, please")
			a.awaitFile(t, "begun")
			a.parley(t, "send", "ana", "--dm", "The tangerines are ripe.")
			write(t, filepath.Join(a.work, "go"), "")
			a.term.Await(answer)
			a.api.findRequest(t, "| The tangerines are ripe.")
		})
	}
}

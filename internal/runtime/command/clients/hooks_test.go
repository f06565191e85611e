//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	hubclient "github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/screentest"
)

// attached is a client that a person has open on a terminal, connected as ana.
type attached struct {
	*hub
	work string // its directory
	term *screentest.Terminal
}

// connectedHub starts a hub, and connects a client as ana. prepare sets the client up before, for its directory.
func connectedHub(t *testing.T, name string, prepare func(a *attached)) *attached {
	t.Helper()
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == name })]
	a := &attached{hub: &hub{setup: newSetup(t, c)}}
	a.work = filepath.Join(a.home, "work")
	if err := os.MkdirAll(a.work, 0o700); err != nil {
		t.Fatal(err)
	}
	a.environ = append(a.environ, "PARLEY_HOME="+filepath.Join(a.home, "hub"), "PARLEY_ADDR=127.0.0.1:0", "TERM=xterm-256color")
	a.up(t)
	t.Cleanup(func() { a.kill(t) })
	prepare(a)
	a.parley(t, "connect", name, "--name", "ana", "--yes")
	return a
}

// start opens the client on a terminal.
func (a *attached) start(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(a.tools, "node_modules/.bin", a.name), args...)
	cmd.Dir, cmd.Env = a.work, a.environ
	a.term = screentest.Start(t, cmd, 120, 40)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // a test may have ended it
		_ = cmd.Wait()
	})
}

// openClaude connects Claude Code and opens it.
func openClaude(t *testing.T) *attached {
	t.Helper()
	return openClaudeWith(t, func(*attached) {})
}

// openClaudeWith opens Claude Code with settings that a function has changed after it was connected.
func openClaudeWith(t *testing.T, change func(*attached)) *attached {
	t.Helper()
	a := connectedHub(t, "claude", func(a *attached) {
		a.environ = append(a.environ, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_MCP_TASKS=1")
		writeJSON(t, filepath.Join(a.home, ".claude/settings.json"), object{
			"permissions": object{"defaultMode": "acceptEdits", "allow": []any{"Bash(sh wait.sh:*)", "mcp__parley"}},
		})
		writeJSON(t, filepath.Join(a.home, ".claude.json"), object{
			"hasCompletedOnboarding": true, "theme": "dark",
			"customApiKeyResponses": object{"approved": []any{"sk-ant-canary-key"}},
			"projects":              object{a.work: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		})
	})
	change(a)
	a.start(t)
	a.term.Await("❯ Yes, set auto mode")
	a.term.Type("\x1b[B")
	a.term.Await("❯ No, keep")
	a.pressEnter(t, "❯ No, keep")
	a.term.Await("accept edits on")
	return a
}

// pressEnter presses Enter until a dialog has gone. Claude Code ignores keys for a moment after it has shown a dialog.
func (a *attached) pressEnter(t *testing.T, dialog string) {
	t.Helper()
	for late := time.Now().Add(time.Minute); strings.Contains(a.term.Screen(), dialog); time.Sleep(time.Second) {
		if a.term.Type("\r"); time.Now().After(late) {
			t.Fatal(a.term.Screen())
		}
	}
}

func writeJSON(t *testing.T, file string, value object) {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text))
}

// say types a prompt as the person.
func (a *attached) say(text string) {
	a.term.Type(text)
	a.term.Await(text)
	a.term.Type("\r")
}

// call returns the answer of a model that calls a tool.
func call(name string, args object) modeltest.Answer {
	text, _ := json.Marshal(args)
	made := modeltest.Call{ID: uuid.NewString(), Name: name, Args: string(text)}
	if namespace, within, found := strings.Cut(name, "/"); found { // Codex
		made.Namespace, made.Name = namespace, within
	}
	return modeltest.Answer{Calls: []modeltest.Call{made}, Input: inputTokens, Output: outputTokens}
}

// messageIn returns the id of the message in a request that contains these words, or "".
func messageIn(r modeltest.Request, words string) string {
	for _, text := range r.Texts {
		_, envelope, found := strings.Cut(text, "--- message ")
		if found && strings.Contains(text, words) {
			id, _, _ := strings.Cut(envelope, " ")
			return id
		}
	}
	return ""
}

// stateOf returns the state of the only delivery of a message.
func (a *attached) stateOf(t *testing.T, message string) parley.DeliveryState {
	t.Helper()
	options, err := hubclient.Find(filepath.Join(a.home, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	hub, err := hubclient.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	shown, err := hub.Message(t.Context(), message)
	if err != nil || len(shown.Deliveries) != 1 {
		t.Fatalf("%+v, %v", shown.Deliveries, err)
	}
	return shown.Deliveries[0].State
}

// awaitState waits until the only delivery of a message has a state.
func (a *attached) awaitState(t *testing.T, message string, state parley.DeliveryState) {
	t.Helper()
	for late := time.Now().Add(time.Minute); a.stateOf(t, message) != state; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("the message stays %s\n%s", a.stateOf(t, message), a.term.Screen())
		}
	}
}

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
	a.say("hello")
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
	a.say("hello")
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
	a.say("work, please")
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

// awaitFile waits until a command of the client has made a file.
func (a *attached) awaitFile(t *testing.T, name string) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(a.work, name)); err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("there is no %s\n%s", name, a.term.Screen())
		}
	}
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
			a.say("deploy it")
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
			t.Fatalf("there is no approval\n%s", a.term.Screen())
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
	a.say("deploy it")
	pending := a.awaitApproval(t)
	a.term.Await("Do you want to proceed?")
	a.pressEnter(t, "Do you want to proceed?")
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var now parley.Approval
		read(t, a.parley(t, "approval", "show", pending.ShortName(), "-o", "json"), &now)
		if now.State == parley.ApprovalWithdrawn {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the approval is %s", now.State)
		}
	}
}

// openGemini connects Gemini CLI and opens it, without questions about tools.
func openGemini(t *testing.T) *attached {
	t.Helper()
	a := connectedHub(t, "gemini", func(a *attached) {
		a.environ = append(a.environ, "GEMINI_CLI_TRUST_WORKSPACE=true")
		writeJSON(t, filepath.Join(a.home, ".gemini/trustedFolders.json"), object{a.work: "TRUST_FOLDER"})
	})
	a.start(t, "--approval-mode", "yolo", "--model", "gemini-2.5-flash")
	a.term.Await("Type your message")
	return a
}

// openOpenCode connects OpenCode and opens it.
func openOpenCode(t *testing.T) *attached {
	t.Helper()
	a := connectedHub(t, "opencode", func(*attached) {})
	a.start(t)
	a.term.Await("Ask anything")
	return a
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
			a.say("hello")
			a.term.Await(answer)
			if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
				t.Errorf("it answered %q", text)
			}
		})
	}
}

// openCodex connects Codex and opens it, with hooks that the person has trusted.
func openCodex(t *testing.T, args ...string) *attached {
	t.Helper()
	a := connectedHub(t, "codex", func(a *attached) {
		config := filepath.Join(a.home, ".codex/config.toml")
		text, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		write(t, config, string(text)+"\n[projects.\""+a.work+"\"]\ntrust_level = \"trusted\"\n")
	})
	a.start(t, append([]string{"--dangerously-bypass-hook-trust"}, args...)...)
	a.term.Await("Ask Codex to do anything")
	return a
}

// openFreeCodex opens Codex without questions about tools.
func openFreeCodex(t *testing.T) *attached {
	t.Helper()
	return openCodex(t, "--ask-for-approval", "never", "--sandbox", "danger-full-access")
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
	a.say("work, please")
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
	a.say("deploy it")
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
			a.say("work, please")
			a.awaitFile(t, "begun")
			a.parley(t, "send", "ana", "--dm", "The tangerines are ripe.")
			write(t, filepath.Join(a.work, "go"), "")
			a.term.Await(answer)
			a.api.findRequest(t, "| The tangerines are ripe.")
		})
	}
}

// TestClaudeIsWokenBeforeItsFirstTurn: the waiting hook is registered with the start of the session too.
func TestClaudeIsWokenBeforeItsFirstTurn(t *testing.T) {
	a := openClaudeWith(t, func(a *attached) {
		file := filepath.Join(a.home, ".claude/settings.json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var settings struct {
			Permissions object           `json:"permissions"`
			Hooks       map[string][]any `json:"hooks"`
		}
		read(t, string(text), &settings)
		settings.Hooks["SessionStart"] = append(settings.Hooks["SessionStart"], settings.Hooks["Stop"]...)
		writeJSON(t, file, object{"permissions": settings.Permissions, "hooks": settings.Hooks})
	})
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if id := messageIn(r, "the tangerines"); id != "" && len(r.Tools) > 0 && !r.HasText("Sent to") {
			return call("mcp__parley__reply", object{"message": id, "content": "They are ripe."})
		}
		return theAnswer
	})
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
}

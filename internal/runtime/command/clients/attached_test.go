//go:build clients

package clients

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
	work    string // its directory
	term    *screentest.Terminal
	shellOf *exec.Cmd // the shell from which the person has started it
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

// start opens the client on a terminal, from a shell as a person does.
func (a *attached) start(t *testing.T, args ...string) {
	t.Helper()
	program := filepath.Join(a.tools, "node_modules/.bin", a.name)
	a.shellOf = exec.Command("sh", append([]string{"-c", `"$@"; exit`, "sh", program}, args...)...)
	a.shellOf.Dir, a.shellOf.Env = a.work, a.environ
	a.term = screentest.Start(t, a.shellOf, 120, 40)
	t.Cleanup(func() {
		a.killClient() // a test may have done so
		_ = a.shellOf.Wait()
		a.killDaemons()
	})
}

// screen returns what the terminal shows, for the message of a failed test. Without a terminal it is "".
func (a *attached) screen() string {
	if a.term == nil {
		return ""
	}
	return a.term.Screen()
}

// killDaemons kills the programs that run from the home of the user: Codex installs its daemon there, which would outlive the test.
func (a *attached) killDaemons() {
	programs, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is sound
	for _, program := range programs {
		file, _ := os.Readlink(program)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(program))); err == nil && strings.HasPrefix(file, a.home+"/") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// killClient kills the client, and whatever it has started in its process group.
func (a *attached) killClient() { _ = syscall.Kill(-a.shellOf.Process.Pid, syscall.SIGKILL) }

// openClaude connects Claude Code and opens it.
func openClaude(t *testing.T) *attached {
	t.Helper()
	return openClaudeWith(t, func(*attached) {})
}

// openClaudeWith opens Claude Code with settings that a function has changed after it was connected.
func openClaudeWith(t *testing.T, change func(*attached)) *attached {
	t.Helper()
	a := connectedHub(t, "claude", func(a *attached) {
		a.environ = append(a.environ, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		writeJSON(t, filepath.Join(a.home, ".claude/settings.json"), object{
			"permissions": object{"defaultMode": "acceptEdits", "allow": []any{"Bash(sh wait.sh:*)", "Bash(sh check.sh:*)", "mcp__parley"}},
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
	a.choose(t, "❯ No, keep")
	a.pressEnter(t, "❯ No, keep")
	a.term.Await("accept edits on")
	return a
}

// pressEnter presses Enter until a dialog has gone.
func (a *attached) pressEnter(t *testing.T, dialog string) {
	t.Helper()
	a.press(t, "\r", func(screen string) bool { return !strings.Contains(screen, dialog) })
}

// choose presses the arrow down until a line of a dialog is chosen.
func (a *attached) choose(t *testing.T, line string) {
	t.Helper()
	a.press(t, "\x1b[B", func(screen string) bool { return strings.Contains(screen, line) })
}

// press presses a key until the screen is as it should. Clients ignore keys for a moment after they have shown a dialog.
func (a *attached) press(t *testing.T, key string, holds func(screen string) bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !holds(a.term.Screen()); time.Sleep(time.Second) {
		if a.term.Type(key); time.Now().After(late) {
			t.Fatal(a.term.Screen())
		}
	}
}

// changeSettings sets fields in the settings of Claude Code.
func (a *attached) changeSettings(t *testing.T, fields object) {
	t.Helper()
	settings := object{}
	read(t, a.file(".claude/settings.json"), &settings)
	maps.Copy(settings, fields)
	writeJSON(t, filepath.Join(a.home, ".claude/settings.json"), settings)
}

func writeJSON(t *testing.T, file string, value object) {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text))
}

// say types a prompt as the person, and presses Enter until the model has it.
func (a *attached) say(t *testing.T, text string) {
	t.Helper()
	a.term.Type(text)
	a.term.Await(text)
	a.press(t, "\r", func(string) bool {
		return slices.ContainsFunc(a.api.Requests(), func(r modeltest.Request) bool { return r.HasText(text) })
	})
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

// openCodex connects Codex and opens it, with hooks that the person has trusted.
func openCodex(t *testing.T, args ...string) *attached {
	t.Helper()
	a := connectedCodex(t)
	a.start(t, append([]string{"--dangerously-bypass-hook-trust"}, args...)...)
	a.term.Await("Ask Codex to do anything")
	return a
}

// connectedCodex connects Codex, which trusts its directory.
func connectedCodex(t *testing.T) *attached {
	t.Helper()
	return connectedHub(t, "codex", func(a *attached) {
		write(t, filepath.Join(a.home, ".codex/config.toml"), a.file(".codex/config.toml")+"\n[projects.\""+a.work+"\"]\ntrust_level = \"trusted\"\n")
	})
}

// openFreeCodex opens Codex without questions about tools.
func openFreeCodex(t *testing.T) *attached {
	t.Helper()
	return openCodex(t, "--ask-for-approval", "never", "--sandbox", "danger-full-access")
}

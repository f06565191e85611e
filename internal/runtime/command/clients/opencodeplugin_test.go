//go:build clients

package clients

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/plugins"
)

// fakeHook stands for "parley hook": it records its calls, and answers them with mail.
const fakeHook = `#!/bin/sh
input=$(cat)
echo "$* $input" >>"$0.calls"
case $3 in
session.created) echo '{"context": "You are cleo."}' ;;
chat.message) echo '{"context": "Mail: the tangerines are here."}' ;;
tool.execute.after) echo '{"context": "Mail: the lemons are here."}' ;;
session.idle) [ -e "$0.woken" ] || { touch "$0.woken"; echo '{"prompt": "Mail: wake up."}'; } ;;
esac
`

// TestThePluginOfOpenCodeBringsMail runs the real OpenCode with the plugin that connect writes. Mail must get into the context of the
// model with the prompt and after a tool, and must begin a turn when the session is idle.
func TestThePluginOfOpenCodeBringsMail(t *testing.T) {
	h, _ := hubWithFakeHook(t)
	var called atomic.Bool
	woken := make(chan struct{})
	wake := sync.OnceFunc(func() { close(woken) })
	h.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if r.HasText("Mail: wake up.") {
			wake()
		}
		if slices.Contains(r.Tools, h.shell.tool) && !called.Swap(true) {
			return h.shell.calls("echo done")
		}
		return theAnswer
	})
	var session struct{ ID string }
	server := h.openCodeServer(t)
	post(t, server+"/session", "{}", &session)
	post(t, server+"/session/"+session.ID+"/message", `{"parts": [{"type": "text", "text": "Say hello."}]}`, nil)
	select {
	case <-woken:
	case <-time.After(commandTimeout):
		t.Error("no turn began by itself")
	}
	calls := h.file("hook.calls")
	for _, event := range []string{"session.created", "chat.message", "tool.execute.after", "session.idle"} {
		if !strings.Contains(calls, "hook opencode "+event+" --agent cleo {\"sessionID\":\"ses_") {
			t.Errorf("no call for %s in:\n%s", event, calls)
		}
	}
	seen := ""
	for _, r := range h.api.Requests() {
		seen += string(r.Body)
	}
	for _, text := range []string{"You are cleo.", "the tangerines are here", "the lemons are here"} {
		if !strings.Contains(seen, text) {
			t.Errorf("the model has not seen %q", text)
		}
	}
}

// hubWithFakeHook starts a hub with an OpenCode whose plugin runs fakeHook, and returns the path of the latter.
func hubWithFakeHook(t *testing.T) (*hub, string) {
	t.Helper()
	c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == "opencode" })]
	h := newHub(t, c)
	hook := filepath.Join(h.home, "hook")
	write(t, hook, fakeHook)
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, ".config/opencode/plugin/parley.js"), string(plugins.OpenCode([]string{hook, "hook", "opencode", "--agent", "cleo"})))
	return h, hook
}

// TestThePluginOfOpenCodeBringsNoMailToSubagents: the model hands work to a subagent, whose session is none of the agent's.
func TestThePluginOfOpenCodeBringsNoMailToSubagents(t *testing.T) {
	h, hook := hubWithFakeHook(t)
	write(t, hook+".woken", "") // the hook at the end of a turn has nothing
	var called atomic.Bool
	h.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if slices.Contains(r.Tools, "task") && !called.Swap(true) {
			return call("task", object{"description": "count", "prompt": "Count the tangerines.", "subagent_type": "general"})
		}
		return theAnswer
	})
	var session struct{ ID string }
	server := h.openCodeServer(t)
	post(t, server+"/session", "{}", &session)
	post(t, server+"/session/"+session.ID+"/message", `{"parts": [{"type": "text", "text": "Say hello."}]}`, nil)
	for _, r := range h.api.Requests() {
		if r.HasText("Count the tangerines.") && !r.HasText("Say hello.") && r.HasText("Mail:") {
			t.Errorf("a subagent got mail: %q", r.Texts)
		}
	}
	h.api.findRequest(t, "Count the tangerines.")
	for line := range strings.Lines(h.file("hook.calls")) {
		if !strings.Contains(line, session.ID) {
			t.Errorf("a hook of a subagent: %s", line)
		}
	}
}

// openCodeServer starts OpenCode as a server, and returns its address. A session stays open there when it is idle, as in a terminal.
func (h *hub) openCodeServer(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("env", "opencode", "serve", "--port", "0")
	cmd.Dir, cmd.Env = h.home, h.environ
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); address != "" {
			go func() {
				for lines.Scan() { // until the end of the process
				}
			}()
			return address
		}
	}
	t.Fatal("OpenCode did not start as a server")
	return ""
}

// post posts JSON, and decodes the answer into out unless it is nil.
func post(t *testing.T, url, body string, out any) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s: %s %s %v", url, response.Status, text, err)
	}
}

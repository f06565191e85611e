package cli

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/home"
)

const hookInput = `{"session_id":"s-1","tool_name":"Bash","tool_input":{"command":"ls"}}`

// hookHome makes a home with the token of ana, and returns its path and that of its socket.
func hookHome(t *testing.T) (dir, socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hook") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	text := `{"agent":"ana","token":"t-1","secret":"parley_test"}`
	file := filepath.Join(home.Dir(dir).Clients(), "tokens", "ana.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "parley.sock")
}

// runHookCommand runs parley hook, and returns the exit code and everything that it has printed.
func runHookCommand(input string, args ...string) (int, string) {
	var out, stderr bytes.Buffer
	code := Run(append([]string{"hook"}, args...), strings.NewReader(input), &out, &stderr)
	return code, out.String() + stderr.String()
}

// TestAHookOfAHangingHubIsSilent: a hub accepts connections and never answers. Each hook that waits for nothing ends in its time, with
// exit code 0 and without a word.
func TestAHookOfAHangingHubIsSilent(t *testing.T) {
	dir, socket := hookHome(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for _, event := range [][2]string{
		{"claude", "SessionStart"}, {"claude", "UserPromptSubmit"}, {"claude", "PostToolUse"}, {"codex", "Stop"}, {"gemini", "AfterAgent"}, {"gemini", "AfterTool"},
	} {
		begun := time.Now()
		code, printed := runHookCommand(hookInput, "--home", dir, event[0], event[1], "--agent", "ana")
		if code != 0 || printed != "" {
			t.Errorf("%s: exit code %d, %q", event, code, printed)
		}
		if took := time.Since(begun); took > 2*time.Second { // its own limit is 130 ms; a busy machine adds to that
			t.Errorf("%s took %s", event, took)
		}
	}
}

// TestAHookWithoutAHubIsSilent: no hub, no token, a wrong command line, and input that nobody closes.
func TestAHookWithoutAHubIsSilent(t *testing.T) {
	dir, _ := hookHome(t)
	for name, args := range map[string][]string{
		"no hub":          {"--home", dir, "claude", "UserPromptSubmit", "--agent", "ana"},
		"no permission":   {"--home", dir, "claude", "PermissionRequest", "--agent", "ana"},
		"no token":        {"--home", dir, "claude", "UserPromptSubmit", "--agent", "gendry"},
		"no home":         {"--home", filepath.Join(dir, "none"), "claude", "UserPromptSubmit", "--agent", "ana"},
		"unknown client":  {"--home", dir, "clod", "Stop", "--agent", "ana"},
		"unknown event":   {"--home", dir, "claude", "Dreamed", "--agent", "ana"},
		"unknown flag":    {"--home", dir, "claude", "UserPromptSubmit", "--agent", "ana", "--of-the-future"},
		"too few words":   {"--home", dir, "claude"},
		"too many words":  {"--home", dir, "claude", "Stop", "now"},
		"a name as agent": {"--home", dir, "claude", "UserPromptSubmit", "--agent", "../../ana"},
	} {
		if code, printed := runHookCommand(hookInput, args...); code != 0 || printed != "" {
			t.Errorf("%s: exit code %d, %q", name, code, printed)
		}
	}
	open, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := Run([]string{"hook", "--home", dir, "claude", "PostToolUse", "--agent", "ana"}, open, &out, &out); code != 0 || out.Len() > 0 {
		t.Errorf("open input: exit code %d, %q", code, out.String())
	}
}

// TestAHookInARunDoesNothing: the hub gives a client that it runs its messages itself.
func TestAHookInARunDoesNothing(t *testing.T) {
	hub := newFakeHub(t, nil)
	t.Setenv("PARLEY_RUN", "run-1")
	if code, printed := runHookCommand(hookInput, "claude", "UserPromptSubmit"); code != 0 || printed != "" || hub.last() != "" {
		t.Errorf("exit code %d, %q; it called %s", code, printed, hub.last())
	}
}

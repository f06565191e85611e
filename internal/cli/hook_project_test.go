package cli

import (
	"encoding/json"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/home"
)

// TestOneHookAnswersInAProject: the hooks of the user and of a project run both. In a project with a registration of its own, the hook of
// the user is silent, once this person has the token of the project's agent. The hook of the project always answers.
func TestOneHookAnswersInAProject(t *testing.T) {
	dir, socket := hookHome(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	hub := &fakeHub{}
	server := httptest.NewUnstartedServer(hub)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	project := t.TempDir()
	t.Setenv("CLAUDE_PROJECT_DIR", project)
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	input, err := json.Marshal(map[string]string{"session_id": "s-1", "cwd": project})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(agent string, more ...string) bool {
		t.Helper()
		before := len(hub.asked)
		code, printed := runHookCommand(string(input), append([]string{"--home", dir, "claude", "UserPromptSubmit", "--agent", agent}, more...)...)
		if code != 0 || printed != "" {
			t.Errorf("exit code %d, %q", code, printed)
		}
		return len(hub.asked) > before
	}
	if !asks("ana", "--scope", "user") {
		t.Error("without a project, the hook of the user is silent")
	}
	write(filepath.Join(project, ".claude/settings.json"),
		`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"parley hook claude UserPromptSubmit --agent pa"}]}]}}`)
	if !asks("ana", "--scope", "user") {
		t.Error("a project that registers an agent of others silences the hook of the user")
	}
	write(filepath.Join(home.Dir(dir).Clients(), "tokens", "pa.json"), `{"agent":"pa","token":"t-2","secret":"parley_test2"}`)
	if asks("ana", "--scope", "user") {
		t.Error("the hook of the user answers too")
	}
	if !asks("pa") {
		t.Error("the hook of the project is silent")
	}
}

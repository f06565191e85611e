//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDoctorChecksConnectedClients: what is registered, what the client trusts, what somebody has removed, and who is not there.
func TestDoctorChecksConnectedClients(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	dir := newDir(t)
	hub, _ := up(t, "--home", dir)
	defer func() { _ = hub.Process.Kill(); _ = hub.Wait() }()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(user, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(client string, want verdict, words string) {
		t.Helper()
		_, found := diagnosis(t, "--home", dir)
		if got := found["clients"]; got.Verdict != want || !strings.Contains(got.Message, words) {
			t.Errorf("%s: %+v", client, got)
		}
		if got := found["sessions"]; got.Verdict != verdictWarn || !strings.Contains(got.Message, "ana has no open session") {
			t.Errorf("%s: %+v", client, got)
		}
	}
	connect := func(client string) func() {
		t.Helper()
		if code, _, errs := run(t, "connect", client, "--name", "ana", "--yes", "--home", dir); code != 0 {
			t.Fatalf("connect %s: %s", client, errs)
		}
		return func() { run(t, "disconnect", client, "--home", dir) }
	}

	write(".claude/settings.json", "{}")
	disconnect := connect("claude")
	check("claude", verdictOK, "Claude Code is connected as ana: MCP server and hooks are registered")
	write(".claude/settings.json", "{}")
	check("claude", verdictFail, "are missing in "+filepath.Join(user, ".claude/settings.json"))
	disconnect()

	write(".codex/config.toml", "")
	disconnect = connect("codex")
	check("codex", verdictWarn, "does not trust the hooks")
	text, err := os.ReadFile(filepath.Join(user, ".codex/config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	write(".codex/config.toml", string(text)+"\n[hooks.state.\""+filepath.Join(user, ".codex/hooks.json")+":stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n")
	check("codex", verdictOK, "registered and trusted")
	disconnect()

	write(".gemini/settings.json", "{}")
	defer connect("gemini")()
	check("gemini", verdictWarn, "does not trust the hooks")
	if _, found := diagnosis(t, "--home", dir); !strings.Contains(found["clients"].Fix, "in each folder in which you work, type /permissions") {
		t.Errorf("the fix is %q", found["clients"].Fix)
	}
	write(".gemini/trustedFolders.json", `{"/work": "TRUST_FOLDER"}`)
	check("gemini", verdictOK, "registered and trusted")
}

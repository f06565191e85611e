//go:build unix

package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVariablesThatNameTheDirectories(t *testing.T) {
	for client, test := range map[string]struct{ variable, file string }{
		"claude": {"CLAUDE_CONFIG_DIR", ".claude.json"}, "codex": {"CODEX_HOME", "config.toml"},
		"gemini": {"GEMINI_CLI_HOME", ".gemini/settings.json"}, "opencode": {"XDG_CONFIG_HOME", "opencode/opencode.json"},
	} {
		u := newUser(t)
		u.env[test.variable] = t.TempDir()
		s := u.setup(client, "ana")
		if n := u.connect(s); n == 0 || len(u.snapshot()) > 1 {
			t.Errorf("%s: %v", client, u.snapshot())
		}
		if _, err := os.Stat(filepath.Join(u.env[test.variable], test.file)); err != nil {
			t.Error(client, err)
		}
		u.env[test.variable] = "" // disconnect finds the files all the same
		u.must(u.disconnect(s))
		if left, _ := os.ReadDir(s.Machine.UserHome); len(left) > 0 {
			t.Errorf("%s: %v is left", client, left)
		}
		u.env[test.variable] = filepath.Join(t.TempDir(), "missing")
		if _, err := u.plan(u.setup(client, "ana")); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", client, err)
		}
	}
}

// TestEachDirectoryIsAConnection: of its own, with its agent, also through a link. A file belongs to one connection only.
func TestEachDirectoryIsAConnection(t *testing.T) {
	u := newUser(t)
	first := u.setup("claude", "ana")
	u.connect(first)
	u.env["CLAUDE_CONFIG_DIR"] = t.TempDir()
	second := u.setup("claude", "bob")
	u.connect(second)
	list, err := List(u.hub)
	u.must(err)
	if len(list) != 2 || list[0].Same(list[1]) || list[0].Place() == list[1].Place() {
		t.Fatalf("the connections are %+v", list)
	}
	link := filepath.Join(t.TempDir(), "link")
	u.must(os.Symlink(u.env["CLAUDE_CONFIG_DIR"], link))
	u.env["CLAUDE_CONFIG_DIR"] = link
	if c, err := Load(u.hub, u.setup("claude", "")); err != nil || c == nil || c.Agent != "bob" {
		t.Errorf("through a link: %+v, %v", c, err)
	}
	u.env["CLAUDE_CONFIG_DIR"] = u.path(".claude")
	if err := u.setup("claude", "cleo").CheckShared(list); err == nil || !strings.Contains(err.Error(), "settings.json") {
		t.Errorf("a shared file: %v", err)
	}
	u.must(u.disconnect(second))
	if agent, err := EarlierAgent(u.hub, second); agent != "bob" || err != nil {
		t.Errorf("the earlier agent is %q, %v", agent, err)
	}
	for _, c := range list {
		if missing, err := c.Missing(u.m); c.Agent == "ana" && (err != nil || len(missing) > 0) {
			t.Errorf("missing in %q, %v", missing, err)
		}
	}
}

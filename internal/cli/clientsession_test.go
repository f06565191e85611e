package cli

import (
	"strings"
	"testing"
)

// TestKeysOfClientSessions: a server and the hooks of one client have one key where the client tells its session, or has one at a time.
func TestKeysOfClientSessions(t *testing.T) {
	const own = "mcp-"
	for _, test := range []struct{ variable, client, id, want string }{
		{"s-1", "claude", "claude-1-2", "s-1"},
		{"s-1", "", "", "s-1"},
		{"no key", "claude", "claude-1-2", own},
		{"", "", "", own},
		{"", "codex", "codex-1-2", "codex-1-2"},
		{"s-1", "codex", "", own},                     // a daemon, which Claude Code has started
		{"s-1", "gemini", "gemini-1-2", "gemini-1-2"}, // Claude Code has started it
		{"s-1", "opencode", "opencode-1-2", own},
	} {
		t.Setenv("CLAUDE_CODE_SESSION_ID", test.variable)
		if key := mcpSession(test.client, test.id); !strings.HasPrefix(key, test.want) || test.want != own && key != test.want {
			t.Errorf("%+v: %q", test, key)
		}
	}
	if a, b := mcpSession("opencode", "x"), mcpSession("opencode", "x"); a == b {
		t.Errorf("two processes have the session %s", a)
	}
	if key := hookSession("opencode"); key != "" {
		t.Errorf("a client with several sessions: %q", key)
	}
	t.Setenv(sessionVariable, "codex-1-2")
	if key := hookSession("codex"); key != "codex-1-2" {
		t.Errorf("a detached hook: %q", key)
	}
}

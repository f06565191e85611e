//go:build unix

package connect

import (
	"os"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestAFileThatTheClientCannotRead: Parley could edit it, but the client would leave out all of it. Connecting says so and changes
// nothing, and so does the check of a connected client.
func TestAFileThatTheClientCannotRead(t *testing.T) {
	const comment, comma, mark = "{ // mine\n}\n", "{\"hooks\": {},\n}\n", "\xef\xbb\xbf{}\n"
	for _, test := range []struct {
		client, file, text string
		refused            bool
	}{
		{"claude", ".claude/settings.json", comment, true},
		{"claude", ".claude/settings.json", comma, true},
		{"claude", ".claude/settings.json", mark, false},
		{"claude", ".claude.json", comment, true},
		{"codex", ".codex/hooks.json", comment, true},
		{"codex", ".codex/hooks.json", comma, true},
		{"gemini", ".gemini/settings.json", comment, false},
		{"gemini", ".gemini/settings.json", comma, true},
		{"gemini", ".gemini/settings.json", mark, true},
		{"opencode", ".config/opencode/opencode.json", comment, false},
		{"opencode", ".config/opencode/opencode.json", comma, false},
		{"opencode", ".config/opencode/opencode.json", mark, false},
	} {
		u := newUser(t)
		s := u.setup(test.client, "ana")
		u.write(test.file, test.text, 0o600)
		before := u.snapshot()
		p, err := u.plan(s)
		if !test.refused {
			if err != nil || len(p.Changes) == 0 {
				t.Errorf("%s with %q: %v", test.file, test.text, err)
			}
			continue
		}
		says := s.Client.Title + " cannot read " + u.path(test.file) + ": line "
		if err == nil || !strings.HasPrefix(parley.AsError(err).Message, says) || !strings.Contains(parley.AsError(err).Suggestion, "connect "+s.Client.Title+" again") {
			t.Errorf("%s with %q: %v", test.file, test.text, err)
		}
		u.isAsBefore(before)
		u.write(test.file, "{}\n", 0o600)
		u.connect(s)
		u.write(test.file, test.text, 0o600)
		c, err := Load(u.hub, s)
		u.must(err)
		if missing, err := c.Missing(u.m); err == nil || !strings.HasPrefix(parley.AsError(err).Message, says) {
			t.Errorf("connected, with %q: %q, %v", test.text, missing, err)
		}
	}
}

// TestDisconnectWithoutTheDirectory: somebody has removed all of it.
func TestDisconnectWithoutTheDirectory(t *testing.T) {
	u := newUser(t)
	u.env["CODEX_HOME"] = t.TempDir()
	s := u.setup("codex", "ana")
	u.connect(s)
	u.must(os.RemoveAll(s.Dir))
	u.must(u.disconnect(s))
	if c, err := Load(u.hub, s); c != nil || err != nil {
		t.Errorf("it is still connected: %v", err)
	}
}

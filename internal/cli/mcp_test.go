package cli

import "testing"

func TestEachMCPProcessHasASessionOfItsOwn(t *testing.T) {
	t.Setenv("CLAUDE_CODE_SESSION_ID", "")
	if a, b := sessionKey(), sessionKey(); a == b {
		t.Errorf("two processes have the session %s", a)
	}
	t.Setenv("CLAUDE_CODE_SESSION_ID", "8d6c1f0a")
	if key := sessionKey(); key != "8d6c1f0a" {
		t.Errorf("in Claude Code: %s", key)
	}
}

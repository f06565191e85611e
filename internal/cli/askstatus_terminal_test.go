package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// TestAskShowsStatusesOnATerminal: the asker sees the statuses of the answerer while it waits.
func TestAskShowsStatusesOnATerminal(t *testing.T) {
	h := newTestHub(t)
	rules := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h.run("agent", "add", "carol", "--name", "CarolBot")
	h.run("agent", "add", "bob", "--name", "BobBot", "--rules", rules("bob.yaml",
		"- match: {contains: Delegation Result}\n  do:\n    - reply: It is 42.\n- else:\n    - delegate: {agent: carol, message: Find out}\n    - reply: working on it\n"))
	program := h.command("ask", "bob", "What is it?")
	screen := screentest.Start(t, program, 90, 12)
	screen.Await("waiting for bob: bob: working on it")
	h.run("--as", "carol", "task", "complete", "task-2", "42")
	screen.Await("Response from BobBot: It is 42.")
	if err := program.Wait(); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// TestTopOnATerminal looks at the real program while an agent works, through a restart of the hub.
func TestTopOnATerminal(t *testing.T) {
	h := newTestHub(t)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("- else:\n    - progress: {message: sharpening}\n    - delay: 10m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("agent", "add", "arya", "--rules", rules)
	h.run("conv", "new", "forge", "--with", "arya")
	program := h.command("top")
	screen := screentest.Start(t, program, 100, 24)
	screen.Await("parley top", "AGENT", "arya", "idle", "q quits")

	h.run("send", "--conv", "forge", "arya", "an edge, please")
	screen.Await("working", "#forge", "live runs", "sharpening")
	screen.Type("p")
	screen.Await("arya is paused")
	screen.Type("p")
	screen.Await("arya is resumed")
	screen.Type("\r")
	screen.Await("runtime   script", "last hour 1 runs", "Esc goes back")
	screen.Type("\x1b")
	screen.Await("live runs")

	h.run("down")
	screen.Await("connection lost")
	h.up()
	screen.Until("the hub again, at work", func(text string) bool {
		return !strings.Contains(text, "connection lost") && strings.Contains(text, "working")
	})
	screen.Resize(40, 15)
	screen.Until("a screen of 40 columns", func(text string) bool {
		return strings.Contains(text, "LIVE  WORKS ON\n") && strings.Contains(text, "q · ↑↓")
	})
	screen.Type("q")
	if err := program.Wait(); err != nil {
		t.Errorf("leaving: %v", err)
	}
}

//go:build unix

package cli_test

import (
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// TestMCPOnATerminalSaysWhatItIsFor: a person has typed the command, and nothing else would happen.
func TestMCPOnATerminalSaysWhatItIsFor(t *testing.T) {
	h := newTestHub(t)
	program := h.command("mcp")
	program.Env = append(program.Env, "PARLEY_TOKEN=parley_x")
	screen := screentest.Start(t, program, 300, 20)
	screen.Await("speaks MCP with an agent client", "connect claude")
	screen.Type("\x04")
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}

package cli_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// TestCtrlCEndsReading: who is asked to type something can leave at once.
func TestCtrlCEndsReading(t *testing.T) {
	h := newTestHub(t)
	h.run("agent", "add", "arya")
	for args, shown := range map[string]string{
		"send arya -":       "type the message; end it with Ctrl-D",
		"agent remove arya": "[y/N]",
		"artifact put -":    "storing: 0 bytes",
		"import -":          "importing: 0 bytes",
	} {
		program := h.command(strings.Fields(args)...)
		person := screentest.Start(t, program, 80, 24)
		person.Await(shown)
		person.Type("\x03")
		ended, ok := errors.AsType[*exec.ExitError](program.Wait())
		if !ok || ended.ExitCode() != 130 {
			t.Errorf("parley %s ended with %v, want exit code 130", args, ended)
		}
	}
	if got := h.run("agent", "list"); !strings.Contains(got, "arya") {
		t.Errorf("an interrupted question was taken for a yes: %s", got)
	}
}

// TestCtrlCLeavesWork: who does not wait any longer is told that the work goes on.
func TestCtrlCLeavesWork(t *testing.T) {
	h := newTestHub(t)
	h.run("agent", "add", "arya")
	program := h.command("delegate", "arya", "a long tale", "--wait")
	person := screentest.Start(t, program, 80, 24)
	person.Await("delegated to arya: task-1")
	person.Type("\x03")
	person.Await("the request goes on; wait for it with:")
	if ended, ok := errors.AsType[*exec.ExitError](program.Wait()); !ok || ended.ExitCode() != 130 {
		t.Errorf("it ended with %v, want exit code 130", ended)
	}
	if got := h.run("task", "list"); !strings.Contains(got, "a long tale") {
		t.Errorf("the work is gone: %s", got)
	}
}

package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// newTask asks for work and returns the id of the task.
func (h testHub) newTask(args ...string) string {
	h.t.Helper()
	return regexp.MustCompile(`task-\d+`).FindString(h.run(append([]string{"task", "new"}, args...)...))
}

// TestTaskTreeOnATerminal watches work with the real program, through a restart of the hub, to its end.
func TestTaskTreeOnATerminal(t *testing.T) {
	h := newTestHub(t)
	h.run("agent", "add", "coordinator", "--name", "CoordinatorBot")
	h.run("agent", "add", "writer", "--name", "WriterBot")
	root := h.newTask("Prepare Q4 report", "--assignee", "coordinator")
	draft := h.newTask("--as", "coordinator", "Draft blog post", "--assignee", "writer", "--parent", root)

	program := h.command("task", "tree", root, "--watch")
	screen := screentest.Start(t, program, 90, 12)
	screen.Await(root+`: "Prepare Q4 report" (CoordinatorBot) — QUEUED`, "  └── "+draft+`: "Draft blog post" (WriterBot) — QUEUED`, "q quits")
	h.run("--as", "writer", "task", "progress", draft, "Half of it", "--fraction", "0.5")
	screen.Await("(WriterBot) — ACTIVE  (50 %: Half of it)")
	h.run("down")
	screen.Await("connection lost")
	h.up()
	screen.Until("the hub again", func(text string) bool { return !strings.Contains(text, "connection lost") })
	screen.Resize(30, 4)
	screen.Await(`task-`, "…")
	screen.Resize(90, 12)
	h.run("--as", "writer", "task", "complete", draft, "The draft is in docs/q4.md")
	screen.Await("(WriterBot) — COMPLETED ✓  (finished ")
	h.run("--as", "coordinator", "task", "complete", root, "The report is out")
	screen.Await("(CoordinatorBot) — COMPLETED ✓  (finished ")
	if err := program.Wait(); err != nil {
		t.Errorf("at the end of the tree: %v", err)
	}
}

// TestLeavingTaskTrees: whatever is open is shown, and stays on the screen for who leaves.
func TestLeavingTaskTrees(t *testing.T) {
	h := newTestHub(t)
	program := h.command("task", "tree", "--watch")
	screen := screentest.Start(t, program, 90, 12)
	screen.Await("no open tasks")
	h.run("agent", "add", "writer", "--name", "WriterBot")
	id := h.newTask("Draft blog post", "--assignee", "writer")
	screen.Await(id+`: "Draft blog post" (WriterBot) — QUEUED`, "q quits")
	h.run("task", "cancel", id)
	screen.Await("(WriterBot) — CANCELLED")
	screen.Type("q")
	if err := program.Wait(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	screen.Until("the last picture", func(text string) bool {
		return strings.Contains(text, "(WriterBot) — CANCELLED") && !strings.Contains(text, "q quits")
	})
}

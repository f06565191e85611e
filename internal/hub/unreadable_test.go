package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// unreadable is a fixture with three tasks, three runs and three approvals. The second one of each cannot be read.
type unreadable struct {
	*fixture
	tasks, runs, approvals []string
}

func someUnreadable(t *testing.T) unreadable {
	t.Helper()
	w := unreadable{fixture: newTrio(t)}
	w.AddPermission("a", "b", parley.EffectAllow, withApproval)
	due := w.Clock.Now().Add(time.Hour)
	for i := range 3 {
		words := fmt.Sprint("work ", i)
		w.tasks = append(w.tasks, w.Delegate(user, "c", words, func(c *parley.Contact) { c.Deadline = &due }))
		working := w.WakeAndStartRun("a")
		w.runs = append(w.runs, working.Run.ID)
		w.approvals = append(w.approvals, w.HeldApproval(w.TryContact(working.Caller(), notifyContact("b", words))).ID)
		w.EndRun(working, "I have to ask first")
	}
	w.tamperWithStore(setRow("tasks", w.tasks[1], "result = '{'"))
	w.tamperWithStore(setRow("runs", w.runs[1], "failure = '{'"))
	w.tamperWithStore(setRow("approvals", w.approvals[1], "failure = '{'"))
	return w
}

func TestUnreadableRowsAreLeftOutOfListsAndNamed(t *testing.T) {
	t.Parallel()
	w := someUnreadable(t)
	var listed []string
	for _, v := range resultOf[[]parley.TaskView](w.fixture)(w.Tasks(ctx, user, parley.TaskFilter{Limit: 2})) {
		listed = append(listed, v.ID)
	}
	same(t, "tasks", listed, []string{w.tasks[2], w.tasks[0]})
	listed = nil
	for _, r := range resultOf[[]parley.Run](w.fixture)(w.Runs(ctx, user, parley.RunFilter{Agent: "a", Limit: 2})) {
		listed = append(listed, r.ID)
	}
	same(t, "runs", listed, []string{w.runs[2], w.runs[0]})
	listed = nil
	for _, a := range resultOf[[]parley.Approval](w.fixture)(w.Approvals(ctx, user, parley.ApprovalFilter{Limit: 2})) {
		listed = append(listed, a.ID)
	}
	same(t, "approvals", listed, []string{w.approvals[2], w.approvals[0]})

	resultOf[[]parley.Presence](w.fixture)(w.Who(ctx, user))
	resultOf[parley.AgentView](w.fixture)(w.AgentView(ctx, user, "a"))
	told := w.awaitDamageAlert().Message
	for what, id := range map[string]string{"task": w.tasks[1], "run": w.runs[1], "approval": w.approvals[1]} {
		if !strings.Contains(told, what+" "+id+": its row cannot be read") {
			t.Errorf("the alert does not name %s %s: %s", what, id, told)
		}
	}
	for what, show := range map[string]func() error{
		w.tasks[1]:     func() error { _, err := w.Task(ctx, user, w.tasks[1]); return err },
		w.runs[1]:      func() error { _, err := w.Run(ctx, user, w.runs[1]); return err },
		w.approvals[1]: func() error { _, err := w.Approval(ctx, user, w.approvals[1]); return err },
	} {
		if err := show(); parley.CodeOf(err) != parley.Internal || !strings.Contains(err.Error(), what+": its row cannot be read") {
			t.Errorf("showing %s: %v", what, err)
		}
	}
}

func TestUnreadableRowsKeepNothingFromBeingSwept(t *testing.T) {
	t.Parallel()
	w := someUnreadable(t)
	w.Clock.Advance(48 * time.Hour)
	w.NoError(w.SweepTasks(ctx))
	w.NoError(w.SweepApprovals(ctx))
	w.NoError(w.Sweep(ctx))
	for _, id := range []string{w.tasks[0], w.tasks[2]} {
		if got := w.TaskByID(id).Status; got != parley.TaskFailed {
			t.Errorf("%s is %s", id, got)
		}
	}
}

func TestExportNamesUnreadableRowsAndGoesOn(t *testing.T) {
	t.Parallel()
	w := someUnreadable(t)
	under := w.tasks[1]
	w.tamperWithStore(setRow("tasks", w.tasks[2], "parent = "+strings.TrimPrefix(under, "task-")))
	var out bytes.Buffer
	w.NoError(w.ExportAll(ctx, user, &out))
	for _, line := range []string{
		`"task":{"id":"` + w.tasks[0], `"approval":{"id":"` + w.approvals[0], `"approval":{"id":"` + w.approvals[2],
		`"damaged":{"what":"task","id":"` + w.tasks[1], `"damaged":{"what":"task","id":"` + w.tasks[2],
		`"damaged":{"what":"approval","id":"` + w.approvals[1], `"damaged":3`,
	} {
		if strings.Count(out.String(), line) != 1 {
			t.Errorf("the export has not one %s:\n%s", line, out.String())
		}
	}
}

// A run does not end its task while it cannot be read whether what is under that has ended.
func TestARunDoesNotEndItsTaskWithAnUnreadableSubtask(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	run := w.WakeAndStartRun("a")
	child := w.Delegate(run.Caller(), "b", "part")
	w.tamperWithStore(setRow("tasks", child, "result = '{'"))
	if _, err := w.FinishRun(ctx, run.Run.ID, parley.Result{Text: "done"}, nil); !errors.Is(err, parley.ErrDamagedRow) {
		t.Errorf("the run ended: %v", err)
	}
}

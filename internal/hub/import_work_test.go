package hub_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hubtest"
)

// fillWithTasks adds tasks, rules and approvals. One task is open, and one approval is pending.
func (w *fixture) fillWithTasks() {
	w.T.Helper()
	w.AddAgents("boss", "worker")
	m := w.SendDM("boss", "worker", "a sword").Message
	done := parley.Task{
		ID: "task-1", Root: "task-1", Title: "a sword", Requester: "boss", OriginalRequester: "boss", Assignee: "worker", Source: "api",
		Conversation: m.Conversation, Message: m.ID, TraceID: m.TraceID, Status: parley.TaskCompleted, Outcome: parley.OutcomeSuccess,
		Result: &parley.TaskResult{Text: "done"}, Priority: parley.DefaultPriority, Attempt: 1, CreatedAt: began, UpdatedAt: began, EndedAt: &began,
	}
	under, open := done, done
	under.ID, under.Parent, under.Depth, under.DependsOn, under.Message = "task-2", "task-1", 1, []string{"task-1"}, ""
	open.ID, open.Root, open.Status, open.EndedAt, open.Result, open.Outcome = "task-3", "task-3", parley.TaskActive, nil, nil, ""
	denied := parley.Approval{
		ID: uuid.NewString(), State: parley.ApprovalDenied, Agent: "worker", Target: "boss", Call: parley.HeldCall{Tool: "contact_agent", Args: json.RawMessage(`{"a":1}`)},
		Digest: "digest", Summary: "may I?", Rule: "strict", Decider: "boss", CreatedAt: began, DecidedBy: "boss", DecidedAt: &began, Trigger: m.ID, TraceID: m.TraceID, Source: "run",
	}
	pending := denied
	pending.ID, pending.State, pending.DecidedBy, pending.DecidedAt = uuid.NewString(), parley.ApprovalPending, "", nil
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		return errors.Join(
			tx.Tasks().Insert(done), tx.Tasks().Insert(under), tx.Tasks().Insert(open), tx.Approvals().Insert(denied), tx.Approvals().Insert(pending),
			tx.Permissions().Put(parley.Permission{Agent: "worker", Target: parley.Anyone, Effect: parley.EffectDeny, CreatedBy: "user", CreatedAt: began}),
			tx.Permissions().Put(parley.Permission{Agent: "worker", Target: "boss", Effect: parley.EffectAllow, RequiresApproval: true, CreatedBy: "user", CreatedAt: began}),
		)
	}))
}

func TestImportGivesWorkBackAsHistory(t *testing.T) {
	w := newHub(t)
	w.fillWithTasks()
	exported := w.exportEverything()
	for _, k := range hubtest.StoreKinds {
		t.Run("into "+k.Name, func(t *testing.T) {
			copied := newEmptyHub(t, k)
			copied.Clock.Advance(time.Hour)
			report := resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
			lines := int64(strings.Count(exported, "\n"))
			same(t, "the report", report, parley.ImportReport{
				Lines: lines - 1, Agents: 2, Conversations: 1, Messages: 1, Permissions: 2, Tasks: 3, Approvals: 2, Skipped: 2,
			})
			copied.AssertConsistent()
			again := copied.exportEverything()
			same(t, "the second export", comparable(t, withoutOpen(t, again)), comparable(t, withoutOpen(t, exported)))
			if !strings.Contains(again, `"error":{"code":"E005","message":"the task was open when the hub was exported"`) {
				t.Error("an open task goes on")
			}
			if strings.Contains(again, `"pending"`) {
				t.Error("a pending approval goes on")
			}
			report = resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
			same(t, "the report of a repetition", report, parley.ImportReport{Lines: lines - 1, Skipped: lines - 2})
			same(t, "the third export", comparable(t, copied.exportEverything()), comparable(t, again))
		})
	}
}

// withoutOpen returns an export without the open work, which an import ends.
func withoutOpen(t *testing.T, export string) string {
	t.Helper()
	var kept strings.Builder
	for text := range strings.Lines(export) {
		if !strings.Contains(text, `"id":"task-3"`) && !strings.Contains(text, `"pending"`) && !strings.Contains(text, `"withdrawn"`) {
			kept.WriteString(text)
		}
	}
	return kept.String()
}

func TestImportReadsTheFirstVersion(t *testing.T) {
	w := newHub(t)
	w.fillWithEverything()
	old := strings.Replace(w.exportEverything(), `"version":3`, `"version":1`, 1)
	copied := newEmptyHub(t, stores)
	report := resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(old)))
	same(t, "messages", report.Messages, int64(9))
}

func TestImportRefusesWorkThatIsNone(t *testing.T) {
	w := newHub(t)
	w.fillWithTasks()
	exported := w.exportEverything()
	lines := map[string]string{}
	for text := range strings.Lines(exported) {
		for _, kind := range []string{"permission", "task", "approval"} {
			if strings.HasPrefix(text, `{"`+kind+`":`) {
				lines[kind] = text
			}
		}
	}
	header, _, _ := strings.Cut(exported, "\n")
	for name, c := range map[string]struct{ kind, old, new, says string }{
		"a name that is none":   {"task", `"task-3"`, `"work"`, `"work" is not the id of a task`},
		"a status that is none": {"task", `"status":"active"`, `"status":"lost"`, `task-3 has the unknown status "lost"`},
		"a lost parent":         {"task", `"requester":"boss"`, `"requester":"user","parent":"task-8"`, "task-3 is a subtask of task-8, which is missing"},
		"a lost need":           {"task", `"requester":"boss"`, `"requester":"user","depends_on":["task-8"]`, "task-3 refers to a task or a participant that is missing"},
		"no message":            {"task", `"id":"task-3"`, `"id":"task-9","callback":"x"`, `task-9 refers to "x", which is not an id`},
		"a zero":                {"task", `"id":"task-3","root":"task-3","depth":0,"title":"a`, `"id":"task-9","root":"task-3","depth":0,"title":"\u0000`, "task-9 has a text with a NUL character"},
		"a rule of no effect":   {"permission", `"deny"`, `"maybe"`, "a rule of worker neither allows nor denies"},
		"a rule of nobody":      {"permission", `"agent":"worker"`, `"agent":"nobody"`, "nobody"},
		"an approval":           {"approval", `"id":"`, `"id":"x`, "has the unknown state"},
	} {
		t.Run(name, func(t *testing.T) {
			line := strings.Replace(lines[c.kind], c.old, c.new, 1)
			if line == lines[c.kind] {
				t.Fatalf("%s is not in %s", c.old, line)
			}
			_, err := w.Import(ctx, user, strings.NewReader(header+"\n"+line))
			if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), c.says) || parley.AsError(err).Suggestion == "" {
				t.Errorf("got %v, want %s", err, c.says)
			}
		})
	}
	same(t, "the hub afterwards", comparable(t, w.exportEverything()), comparable(t, exported))
}

// A task, an approval and a message get the next numbers of the hub they come to, and what names them is renamed with them.
func TestImportNumbersAnew(t *testing.T) {
	w := newHub(t)
	w.fillWithTasks()
	m := w.PostAs("boss", parley.Draft{Direct: []string{"worker"}, Content: text("how far is it?"), Task: "task-3"}).Message
	exported := w.exportEverything()
	busy := newEmptyHub(t, stores)
	busy.addInternOffice()
	own := resultOf[parley.TaskView](busy)(busy.NewTask(ctx, user, parley.NewTask{Title: "my own"}))
	held := busy.HeldApproval(busy.TryContact(as("intern"), notifyContact("senior", "hello")))
	same(t, "its own task", own.ID, "task-1")
	same(t, "its own approval", held.ShortName(), "approval-1")
	report := resultOf[parley.ImportReport](busy)(busy.Import(ctx, user, strings.NewReader(exported)))
	same(t, "tasks", report.Tasks, int64(3))
	same(t, "approvals", report.Approvals, int64(2))
	under := resultOf[parley.TaskView](busy)(busy.Task(ctx, user, "task-3"))
	same(t, "the parent", under.Parent, "task-2")
	same(t, "the root", under.Root, "task-2")
	same(t, "what it depends on", under.DependsOn, []string{"task-2"})
	same(t, "its own task is left alone", resultOf[parley.TaskView](busy)(busy.Task(ctx, user, "task-1")).Title, "my own")
	same(t, "the task of a message", resultOf[parley.Shown](busy)(busy.Message(ctx, user, m.ID)).Task, "task-4")
	for number := range 3 {
		a := resultOf[parley.Approval](busy)(busy.Approval(ctx, user, parley.NounApproval.ShortName(int64(number+1))))
		same(t, "an approval", a.Number, int64(number+1))
	}
	again := resultOf[parley.ImportReport](busy)(busy.Import(ctx, user, strings.NewReader(exported)))
	same(t, "a repetition adds tasks", again.Tasks, int64(0))
	same(t, "a repetition adds approvals", again.Approvals, int64(0))
}

// In the files of older programs messages come before the tasks they name, which keep their numbers then.
func TestImportOfAnOlderFileKeepsTheNumbersOfTasks(t *testing.T) {
	w := newHub(t)
	w.fillWithTasks()
	m := w.PostAs("boss", parley.Draft{Direct: []string{"worker"}, Content: text("how far is it?"), Task: "task-3"}).Message
	var tasks, rest strings.Builder
	for text := range strings.Lines(w.exportEverything()) {
		switch {
		case strings.HasPrefix(text, `{"task":`):
			tasks.WriteString(text)
		case strings.HasPrefix(text, `{"end":`):
			rest.WriteString(tasks.String() + text)
		default:
			rest.WriteString(text)
		}
	}
	copied := newEmptyHub(t, stores)
	resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(rest.String())))
	same(t, "the task of a message", resultOf[parley.Shown](copied)(copied.Message(ctx, user, m.ID)).Task, "task-3")
	same(t, "its title", resultOf[parley.TaskView](copied)(copied.Task(ctx, user, "task-3")).Title, "a sword")
	busy := newEmptyHub(t, stores)
	resultOf[parley.TaskView](busy)(busy.NewTask(ctx, user, parley.NewTask{Title: "my own"}))
	_, err := busy.Import(ctx, user, strings.NewReader(rest.String()))
	if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), "task-1 is another task in this hub") {
		t.Errorf("got %v", err)
	}
}

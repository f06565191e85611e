package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parley-hub/parley"
)

// delegatedFromTree has an agent in a tree ask ned for a task by a document, and returns the task.
func (w *fixture) delegatedFromTree(l parley.Layout) parley.Task {
	w.T.Helper()
	w.AddPollingAgents("ned")
	w.joinTree(l, "tree", "gm")
	w.arriveFrom("tree", parley.Arrival{Name: "msg_00000001", From: "gm", To: "ned", Draft: parley.Draft{
		Type: parley.TypeTask, Content: text("Draft it"), Payload: json.RawMessage(`{"task":"Draft it"}`),
	}})
	tasks := resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{Assignee: "ned"}))
	if len(tasks) != 1 {
		w.T.Fatalf("%d tasks", len(tasks))
	}
	return tasks[0].Task
}

func (w *fixture) reportProgress(task string, p parley.TaskProgress) {
	w.T.Helper()
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ned"), task, parley.TaskChange{Progress: &p}))
}

// TestProgressDepartsToRequestersInTrees: each report is one message from the assignee, which answers the request and wakes nobody.
func TestProgressDepartsToRequestersInTrees(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutInbox)
	half := 0.5
	w.reportProgress(task.ID, parley.TaskProgress{Fraction: &half, Message: "half way"})
	w.reportProgress(task.ID, parley.TaskProgress{Message: "half way"})
	w.reportProgress(task.ID, parley.TaskProgress{Message: "stuck", Blockers: []string{"no ink"}})
	out := w.departuresOf("tree")
	same(t, "reports", wordsOf(out), []string{"half way", "stuck (blocked: no ink)"})
	for _, d := range out {
		same(t, "a report", []any{d.Message.From, d.Message.Type, d.ReplyTo, d.Message.Task, d.Wakes}, []any{"ned", parley.TypeStatus, "msg_00000001", task.ID, false})
	}
	same(t, "named once", namesOf(w.departuresOf("tree")), namesOf(out))
	w.AssertConsistent()
}

// TestAReportThatIsAMessageIsNotRepeated: the assignee's own message to the requester is the document.
func TestAReportThatIsAMessageIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutInbox)
	w.PostAs("ned", parley.Draft{
		Conversation: task.Conversation, InReplyTo: task.Message, Type: "status-update", Payload: json.RawMessage(`{"status":"in_progress","progress":0.5,"message":"half way"}`),
	})
	same(t, "departures", len(w.departuresOf("tree")), 1)
	v := resultOf[parley.TaskView](w)(w.Task(ctx, user, task.ID))
	same(t, "progress", *v.Progress.Fraction, 0.5)
}

// TestReportsWaitWhileManyAreUnread: the newest is written once one of them was read, and none after the end.
func TestReportsWaitWhileManyAreUnread(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutInbox)
	for n := range 30 {
		w.reportProgress(task.ID, parley.TaskProgress{Message: fmt.Sprintf("step %d", n)})
	}
	out := w.departuresOf("tree")
	same(t, "reports", len(out), 20)
	w.reportDepartures("tree", parley.DepartureWritten, out...)
	same(t, "nothing more", len(w.departuresOf("tree")), 0)
	w.reportProgress(task.ID, parley.TaskProgress{Message: "stuck", Blockers: []string{"no ink"}})
	blocked := w.onlyDepartureOf("tree")
	same(t, "but that it is blocked", blocked.Message.Content.Text, "stuck (blocked: no ink)")
	w.reportDepartures("tree", parley.DepartureWritten, blocked)
	w.reportProgress(task.ID, parley.TaskProgress{Message: "step 29"})
	same(t, "nothing more again", len(w.departuresOf("tree")), 0)
	w.reportDepartures("tree", parley.DepartureSeen, blocked)
	same(t, "as many as before", len(w.departuresOf("tree")), 0)
	w.reportDepartures("tree", parley.DepartureSeen, out[0])
	newest := w.onlyDepartureOf("tree")
	same(t, "the newest", newest.Message.Content.Text, "step 29")
	w.reportDepartures("tree", parley.DepartureWritten, newest)
	w.reportDepartures("tree", parley.DepartureSeen, out[1:]...)
	same(t, "told once", len(w.departuresOf("tree")), 0)
	v := resultOf[parley.TaskView](w)(w.Task(ctx, user, task.ID))
	same(t, "nothing is left to tell", v.Progress.Unreported, false)
	w.AssertConsistent()
}

// TestAReportThatWaitedIsSentWhateverMadeRoom: reports of another task, and notifications, lie in the same inbox. The end of a task
// waits for nothing.
func TestAReportThatWaitedIsSentWhateverMadeRoom(t *testing.T) {
	t.Parallel()
	for what, fill := range map[string]func(w *fixture, first parley.Task){
		"reports of another task": func(w *fixture, first parley.Task) {
			for n := range 20 {
				w.reportProgress(first.ID, parley.TaskProgress{Message: fmt.Sprintf("step %d", n)})
			}
		},
		"notifications": func(w *fixture, _ parley.Task) {
			for n := range 20 {
				w.PostAs("ned", parley.Draft{Direct: []string{"gm"}, Type: parley.TypeNotification, Content: text(fmt.Sprintf("note %d", n))})
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			first := w.delegatedFromTree(parley.LayoutInbox)
			w.arriveFrom("tree", parley.Arrival{Name: "msg_00000002", From: "gm", To: "ned", Draft: parley.Draft{
				Type: parley.TypeTask, Content: text("Draft another"), Payload: json.RawMessage(`{"task":"Draft another"}`),
			}})
			second := resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{Assignee: "ned"}))[0].Task
			fill(w, first)
			w.reportProgress(second.ID, parley.TaskProgress{Message: "half way"})
			out := w.departuresOf("tree")
			same(t, "documents", len(out), 20)
			w.reportDepartures("tree", parley.DepartureWritten, out...)
			same(t, "nothing more", len(w.departuresOf("tree")), 0)
			w.reportDepartures("tree", parley.DepartureSeen, out[0])
			waited := w.onlyDepartureOf("tree")
			same(t, "the report that waited", []any{waited.Message.Content.Text, waited.ReplyTo}, []any{"half way", "msg_00000002"})
			w.reportDepartures("tree", parley.DepartureWritten, waited)
			w.reportDepartures("tree", parley.DepartureSeen, out[1:]...)
			same(t, "told once", len(w.departuresOf("tree")), 0)
			w.AssertConsistent()
		})
	}
}

// TestTheEndOfATaskWaitsForNoReport: the requester has twenty reports unread.
func TestTheEndOfATaskWaitsForNoReport(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutInbox)
	for n := range 30 {
		w.reportProgress(task.ID, parley.TaskProgress{Message: fmt.Sprintf("step %d", n)})
	}
	out := w.departuresOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out...)
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ned"), task.ID, parley.TaskChange{Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: "drafted"}}))
	end := w.onlyDepartureOf("tree")
	same(t, "the end", []any{end.Message.Content.Text, end.ReplyTo, end.Task.ID}, []any{"drafted", "msg_00000001", task.ID})
	w.reportDepartures("tree", parley.DepartureWritten, end)
	w.reportDepartures("tree", parley.DepartureSeen, out...)
	same(t, "no report after the end", len(w.departuresOf("tree")), 0)
	w.AssertConsistent()
}

// TestAStoredResultDoesNotDecideHowATaskEnds: the assignee has set what the task will end with, and the hub ends it otherwise.
func TestAStoredResultDoesNotDecideHowATaskEnds(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutInbox)
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("ned"), task.ID, parley.TaskChange{Result: &parley.TaskResult{
		Text: "drafted", Payload: json.RawMessage(`{"status":"success","error":null,"issues":[],"rows":3}`),
	}}))
	w.NoError(errorOf(w.CancelTask(ctx, user, task.ID, "not wanted any more")))
	var said struct {
		Status string
		Error  *parley.Error
		Issues []string
		Rows   int
	}
	w.NoError(json.Unmarshal(w.onlyDepartureOf("tree").Message.Payload, &said))
	same(t, "how it ended", []any{said.Status, said.Error != nil, len(said.Issues), said.Rows}, []any{"failure", true, 1, 3})
}

// TestAnErrorTravelsAsItsAssigneeSaidIt: the hub knows only the words of it.
func TestAnErrorTravelsAsItsAssigneeSaidIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	task := w.delegatedFromTree(parley.LayoutBlackboard)
	w.PostAs("ned", parley.Draft{
		Conversation: task.Conversation, InReplyTo: task.Message, Type: parley.TypeResponse, Content: text("no ink"),
		Payload: json.RawMessage(`{"requestId":"msg_00000001","status":"failure","result":null,"error":{"message":"no ink","printer":7}}`),
	})
	var said struct {
		Status string
		Error  struct{ Printer int }
	}
	w.NoError(json.Unmarshal(w.onlyDepartureOf("tree").Message.Payload, &said))
	same(t, "how it ended", []any{said.Status, said.Error.Printer}, []any{"failure", 7})
}

package hub_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-hub/parley"
)

// asksWithin has an agent ask another agent of the same tree for work, through the hub. It returns the departure of the request.
func asksWithin(w *fixture, l parley.Layout, queue bool) (parley.Departure, string) {
	w.T.Helper()
	w.joinTree(l, "tree", "gm", "assistant")
	work := parley.Draft{Type: parley.TypeRequest, Payload: json.RawMessage(`{"action":"task.assign","params":{"text":"Draft it"}}`)}
	if queue {
		w.arriveFrom("tree", parley.Arrival{Name: "req-1", From: "assistant", To: "gm", Queue: true, Draft: work})
	} else {
		work.Direct = []string{"gm"}
		w.PostAs("assistant", work)
	}
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out)
	w.reportDepartures("tree", parley.DepartureSeen, out)
	return out, out.Message.Task
}

// arriveAsHistory passes a document from one script to another as history, which wakes nobody.
func (w *fixture) arriveAsHistory(a parley.Arrival) parley.Arrived {
	w.T.Helper()
	a.History = true
	return w.arriveFrom("tree", a)
}

// A task of the hub's between two who live in one tree ends by the document that the one has written to the other.
func TestATaskWithinATreeOfInboxes(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		draft   parley.Draft
		status  parley.TaskState
		outcome parley.TaskOutcome
	}{
		"a response": {
			parley.Draft{Type: parley.TypeResponse, Content: text("done"), Payload: json.RawMessage(`{"requestId":"r","status":"success","result":{"text":"done"}}`)},
			parley.TaskCompleted, parley.OutcomeSuccess,
		},
		"an error": {parley.Draft{
			Type: parley.TypeError, Content: text("no"), Payload: json.RawMessage(`{"requestId":"r","code":"E005","message":"no","recoverable":false}`),
		}, parley.TaskFailed, ""},
		"a result": {
			parley.Draft{Type: parley.TypeResult, Content: text("half"), Payload: json.RawMessage(`{"status":"partial"}`)}, parley.TaskCompleted, parley.OutcomePartial,
		},
	}
	for name, c := range ends {
		for _, queue := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newHub(t)
				layout := parley.LayoutBlackboard
				if !queue {
					layout = parley.LayoutInbox
				}
				out, task := asksWithin(w, layout, queue)
				got := w.arriveAsHistory(parley.Arrival{Name: "re-1", From: "gm", To: "assistant", ReplyTo: out.Name, Draft: c.draft})
				is := w.TaskByID(task)
				same(t, "the task", []any{is.Status, is.Outcome, is.Callback}, []any{c.status, c.outcome, got.Message})
				d := w.DeliveryOf(out.Message.ID, "gm")
				same(t, "the request", []any{d.State, d.Answer}, []any{parley.DeliveryAnswered, got.Message})
				same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
				same(t, "what waits", []any{w.InboxOf("assistant"), w.InboxOf("gm")}, []any{parley.Inbox{}, parley.Inbox{}})
				w.AssertConsistent()
			})
		}
	}
}

// What one who lives in a tree says to another of how a task of the hub's goes is progress of it, and is told to nobody again.
func TestProgressWithinATree(t *testing.T) {
	t.Parallel()
	for name, draft := range map[string]parley.Draft{
		"a notification":  {Type: parley.TypeNotification, Payload: json.RawMessage(`{"event":"progress","message":"a third","progress":{"current":1,"total":3}}`)},
		"a status update": {Type: "status-update", Payload: json.RawMessage(`{"status":"blocked","message":"a third","blockers":["no key"]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			out, task := asksWithin(w, parley.LayoutInbox, false)
			w.arriveAsHistory(parley.Arrival{Name: "re-1", From: "gm", To: "assistant", ReplyTo: out.Name, Draft: draft})
			is := w.TaskByID(task)
			if is.Status != parley.TaskActive || is.Progress == nil || is.Progress.Message != "a third" {
				t.Errorf("the task is %s, with the progress %+v", is.Status, is.Progress)
			}
			same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
			w.AssertConsistent()
		})
	}
}

// Only the word of the assignee counts, and who is not in the tree is called back as ever.
func TestATaskWithinATreeIsItsAssignees(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutBlackboard, "tree", "gm", "assistant")
	task := w.Delegate(user, "gm", "Draft it")
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out)
	done := parley.Draft{Type: parley.TypeResponse, Content: text("done"), Payload: json.RawMessage(`{"requestId":"r","status":"success","result":{"text":"done"}}`)}
	w.arriveAsHistory(parley.Arrival{Name: "re-1", From: "assistant", To: "gm", ReplyTo: out.Name, Draft: done})
	same(t, "of another", w.TaskByID(task).Status, parley.TaskQueued)
	got := w.arriveAsHistory(parley.Arrival{Name: "re-2", From: "gm", To: "assistant", ReplyTo: out.Name, Draft: done})
	is := w.TaskByID(task)
	same(t, "of the assignee", is.Status, parley.TaskCompleted)
	if is.Callback == "" || is.Callback == got.Message {
		t.Errorf("the callback is %q", is.Callback)
	}
	w.AssertConsistent()
}

// Who passes a request on to a third has not answered it.
func TestARequestPassedOnWithinATreeIsNotAnswered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutBlackboard, "tree", "gm", "assistant", "worker-1")
	work := parley.Draft{Type: parley.TypeRequest, Payload: json.RawMessage(`{"action":"task.assign","params":{"text":"Draft it"}}`)}
	w.arriveFrom("tree", parley.Arrival{Name: "req-1", From: "assistant", To: "gm", Queue: true, Draft: work})
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out)
	w.arriveAsHistory(parley.Arrival{Name: "req-2", From: "gm", To: "worker-1", ReplyTo: out.Name, Draft: work})
	same(t, "the request", w.DeliveryState(out.Message.ID, "gm"), parley.DeliveryDelivered)
	same(t, "the tasks", len(resultOf[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 1)
}

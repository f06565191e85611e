package bridge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// raw reads a document with its numbers as they are written.
func (w *bridgedHub) raw(at string) (d map[string]json.RawMessage) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.text(at)), &d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

func sameJSON(t *testing.T, what string, got, want any) {
	t.Helper()
	var values [2]any
	for i, value := range []any{got, want} {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(values[0], values[1]) {
		t.Errorf("%s: %v, want %v", what, values[0], values[1])
	}
}

// TestABlackboardRequestTravelsAsItCameIn: the hub passes a request for nobody on to an agent of the tree, and changes nothing of it.
func TestABlackboardRequestTravelsAsItCameIn(t *testing.T) {
	w := newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"pm-web", "assistant"}, QueueAgent: "pm-web"}, nil)
	w.join()
	east := time.FixedZone("", 2*3600)
	due := time.Now().Add(2 * time.Hour).In(east).Format(time.RFC3339)
	request := clawed("q-1", "assistant", "anybody", "request", map[string]any{
		"action": "task.assign", "params": map[string]any{"text": "Plan the week"}, "deadline": due,
	})
	request["timestamp"], request["ttl"] = time.Now().Add(-90*time.Second).In(east).Format(time.RFC3339), 3600
	w.put("inbox/q-1.json", request)
	w.until("it goes on", func() bool { return len(w.files("pm-web/inbox")) == 1 })
	out := w.raw("pm-web/inbox/q-1.json")
	for _, key := range []string{"id", "traceId", "type", "priority", "timestamp", "ttl", "payload"} {
		sameJSON(t, key, out[key], request[key])
	}
	if string(out["ttl"]) != "3600" {
		t.Errorf("the ttl is %s", out["ttl"])
	}
}

// TestTheDeadlineOfADelegationIsInItsDocument, in the field of the format.
func TestTheDeadlineOfADelegationIsInItsDocument(t *testing.T) {
	due := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for layout, c := range map[parley.Layout]struct{ inbox, kind string }{
		parley.LayoutBlackboard: {"coder/inbox", "request"}, parley.LayoutInbox: {coderInbox, "task-delegation"},
	} {
		w := newBridgedHub(t, parley.NewBridge{Layout: layout, Agents: []string{"coder"}}, nil)
		w.join()
		if _, err := w.Contact(t.Context(), owner, parley.Contact{Pattern: parley.PatternDelegate, Agent: "coder", Message: "Write it", Deadline: &due}); err != nil {
			t.Fatal(err)
		}
		payload := w.awaitKind(c.inbox, c.kind)["payload"].(map[string]any)
		if layout == parley.LayoutInbox {
			payload, _ = payload["context"].(map[string]any)
		}
		if got, err := time.Parse(time.RFC3339, fmt.Sprint(payload["deadline"])); err != nil || !got.Equal(due) {
			t.Errorf("%s: the deadline is %v, want %v", layout, payload["deadline"], due)
		}
	}
}

// TestAPayloadThatDoesNotFitIsRefused: its sender is told, and no document leaves a part of it out.
func TestAPayloadThatDoesNotFitIsRefused(t *testing.T) {
	w := routingTown(t)
	w.join()
	payload, err := json.Marshal(map[string]string{"rows": strings.Repeat("row ", 5<<10)})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := w.Post(t.Context(), owner, parley.Draft{Direct: []string{"coder"}, Content: parley.Content{Text: "see the payload"}, Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	w.until("refused", func() bool { return w.state(receipt.Message.ID) == parley.DeliveryFailed })
	shown, err := w.Message(t.Context(), owner, receipt.Message.ID)
	if err != nil || shown.Deliveries[0].Failure == nil || shown.Deliveries[0].Failure.Code != parley.BadInput {
		t.Errorf("the delivery is %+v, %v", shown.Deliveries, err)
	}
	told, err := w.Peek(t.Context(), owner, 10)
	if err != nil || len(told.Messages) != 1 || told.Messages[0].Type != parley.TypeError || !strings.Contains(string(told.Messages[0].Payload), "E003") {
		t.Errorf("the sender is told %+v, %v", told.Messages, err)
	}
	if found := w.files(coderInbox); len(found) > 0 {
		t.Errorf("the tree has %q", found)
	}
}

// attached is an agent of the hub that works by itself.
func (w *bridgedHub) attached(id string) hub.Caller {
	w.t.Helper()
	w.add(parley.NewAgent{ID: id})
	return hub.Caller{Agent: id, Scopes: parley.AllScopes(), Source: "api"}
}

// request is the message by which a script has asked an agent of the hub for a task.
func (w *bridgedHub) request(agent string) parley.Task {
	w.t.Helper()
	var found []parley.TaskView
	w.until("the task", func() (done bool) {
		var err error
		found, err = w.Tasks(w.t.Context(), owner, parley.TaskFilter{Assignee: agent})
		if err != nil {
			w.t.Fatal(err)
		}
		return len(found) == 1
	})
	return found[0].Task
}

// TestAResultTravelsWhole: the requester in the tree finds the deliverables, metrics, issues and next steps as the assignee gave them.
func TestAResultTravelsWhole(t *testing.T) {
	const payload = `{"status":"partial","deliverables":{"files_modified":["/src/a.go"],"tests_added":["/src/a_test.go"],"artifacts":[],"report":{"rows":3}},
		"metrics":{"confidence":0.9,"duration_ms":5400000,"model":"large"},"issues":["slow"],"next_steps":["measure"],"message":"done"}`
	w := routingTown(t)
	gil := w.attached("gil")
	w.join()
	w.put("state/agents/gil/inbox/msg_00000001.json", routed(1, "coder", "gil", "task-delegation", map[string]any{"task": "Audit the tokens"}))
	task := w.request("gil")
	if _, err := w.Post(t.Context(), gil, parley.Draft{
		Conversation: task.Conversation, InReplyTo: task.Message, Type: parley.TypeResult, Content: parley.Content{Text: "done"}, Payload: json.RawMessage(payload),
	}); err != nil {
		t.Fatal(err)
	}
	result := w.awaitKind(coderInbox, "result")
	if result["correlation_id"] != "msg_00000001" {
		t.Errorf("the result is %v", result)
	}
	sameJSON(t, "the payload", result["payload"], json.RawMessage(payload))
}

// TestAResponseTravelsWhole: the same on a blackboard, where the result is any object.
func TestAResponseTravelsWhole(t *testing.T) {
	w := clawTown(t)
	gil := w.attached("gil")
	w.join()
	w.put("gil/inbox/r-1.json", clawed("r-1", "pm-web", "gil", "request", map[string]any{"action": "task.assign", "params": map[string]any{"text": "Count"}}))
	task := w.request("gil")
	if _, err := w.Post(t.Context(), gil, parley.Draft{
		Conversation: task.Conversation, InReplyTo: task.Message, Type: parley.TypeResponse, Content: parley.Content{Text: "counted"},
		Payload: json.RawMessage(`{"requestId":"x","status":"success","result":{"text":"counted","rows":[1,2]},"error":null}`),
	}); err != nil {
		t.Fatal(err)
	}
	payload := w.awaitKind("pm-web/inbox", "response")["payload"]
	sameJSON(t, "the payload", payload, json.RawMessage(`{"requestId":"r-1","status":"success","result":{"text":"counted","rows":[1,2]},"error":null}`))
}

// progress has an agent of the hub report how far a task has come.
func (w *bridgedHub) progress(who hub.Caller, task string, p parley.TaskProgress) {
	w.t.Helper()
	if _, err := w.UpdateTask(w.t.Context(), who, task, parley.TaskChange{Progress: &p}); err != nil {
		w.t.Fatal(err)
	}
}

// reports are the payloads of the documents of a kind in an inbox, in the order in which they were written.
func (w *bridgedHub) reports(inbox, kind string) (list []map[string]any) {
	w.t.Helper()
	byTime := map[string]map[string]any{}
	for _, at := range w.files(inbox) {
		if d := w.document(at); d["type"] == kind {
			byTime[fmt.Sprint(d["timestamp"], " ", d["sequence"], " ", d["id"])] = d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byTime)) {
		list = append(list, byTime[key])
	}
	return list
}

// TestProgressReachesRequestersInTrees: each report is one document, correlated to the request, with the bridge killed after each of
// its steps.
func TestProgressReachesRequestersInTrees(t *testing.T) {
	half, three, ten := 0.5, int64(3), int64(10)
	for _, at := range append([]step{"never"}, steps...) {
		t.Run("inbox "+string(at), func(t *testing.T) {
			w := routingTown(t)
			gil := w.attached("gil")
			w.die.Store(&at)
			w.join()
			w.put("state/agents/gil/inbox/msg_00000001.json", routed(1, "coder", "gil", "task-delegation", map[string]any{"task": "Audit the tokens"}))
			task := w.request("gil").ID
			w.progress(gil, task, parley.TaskProgress{Fraction: &half, Message: "half way"})
			w.progress(gil, task, parley.TaskProgress{Message: "stuck", Blockers: []string{"no key"}})
			w.progress(gil, task, parley.TaskProgress{Message: "stuck", Blockers: []string{"no key"}}) // says nothing new
			w.progress(gil, task, parley.TaskProgress{Message: "on again"})
			w.until("three reports", func() bool { return w.kinds(coderInbox)["status-update"] >= 3 })
			if _, err := w.UpdateTask(t.Context(), gil, task, parley.TaskChange{Status: parley.TaskCompleted}); err != nil {
				t.Fatal(err)
			}
			w.awaitKind(coderInbox, "result")
			w.until("the kill", func() bool { return at == "never" || w.kills.Load() == 1 })
			var payloads []any
			for _, d := range w.reports(coderInbox, "status-update") {
				if d["from"] != "gil" || d["correlation_id"] != "msg_00000001" {
					t.Errorf("a report is %v", d)
				}
				payloads = append(payloads, d["payload"])
			}
			sameJSON(t, "the reports", payloads, []any{
				map[string]any{"status": "in_progress", "progress": 0.5, "message": "half way"},
				map[string]any{"status": "blocked", "progress": 0.5, "message": "stuck (blocked: no key)", "blockers": []string{"no key"}},
				map[string]any{"status": "in_progress", "progress": 0.5, "message": "on again"},
			})
		})
		t.Run("blackboard "+string(at), func(t *testing.T) {
			w := clawTown(t)
			gil := w.attached("gil")
			w.die.Store(&at)
			w.join()
			w.put("gil/inbox/r-1.json", clawed("r-1", "pm-web", "gil", "request", map[string]any{"action": "task.assign", "params": map[string]any{"text": "Count"}}))
			task := w.request("gil").ID
			w.progress(gil, task, parley.TaskProgress{Current: &three, Total: &ten, Message: "counting"})
			w.progress(gil, task, parley.TaskProgress{Message: "stuck", Blockers: []string{"no sheep"}})
			w.until("two reports", func() bool { return w.kinds("pm-web/inbox")["notification"] >= 2 })
			w.until("the kill", func() bool { return at == "never" || w.kills.Load() == 1 })
			var payloads []any
			for _, d := range w.reports("pm-web/inbox", "notification") {
				if metadata := d["metadata"].(map[string]any); metadata["in_reply_to"] != "r-1" || d["traceId"] != "trace-r-1" {
					t.Errorf("a report is %v", d)
				}
				payloads = append(payloads, d["payload"])
			}
			count := map[string]any{"current": 3, "total": 10}
			sameJSON(t, "the reports", payloads, []any{
				map[string]any{"event": "progress", "message": "counting", "progress": count},
				map[string]any{"event": "warning", "message": "stuck (blocked: no sheep)", "progress": count},
			})
		})
	}
}

// TestProgressFloodsNoInbox: while twenty reports lie unread, only the newest of the others is kept, and written once there is room.
func TestProgressFloodsNoInbox(t *testing.T) {
	w := routingTown(t)
	gil := w.attached("gil")
	w.join()
	w.put("state/agents/gil/inbox/msg_00000001.json", routed(1, "coder", "gil", "task-delegation", map[string]any{"task": "Audit the tokens"}))
	task := w.request("gil").ID
	for n := range 150 {
		w.progress(gil, task, parley.TaskProgress{Message: fmt.Sprintf("step %03d", n)})
	}
	w.until("twenty reports", func() bool { return w.kinds(coderInbox)["status-update"] == 20 })
	for _, at := range w.files(coderInbox) {
		w.take(at)
	}
	w.until("the newest", func() bool { return w.kinds(coderInbox)["status-update"] == 1 })
	payload := w.awaitKind(coderInbox, "status-update")["payload"].(map[string]any)
	if payload["message"] != "step 149" {
		t.Errorf("the newest is %v", payload)
	}
}

// TestProgressInAChannel is written beside the request, and calls nobody: watchers answer what is addressed to them.
func TestProgressInAChannel(t *testing.T) {
	half := 0.5
	w := newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutAgentOS, Agents: []string{"codex"}, Channels: []string{"paper"}}, nil)
	gil := w.attached("gil")
	w.join()
	w.until("the beginning", func() bool { return len(w.files(".parley/added")) == 1 })
	w.put("channels/paper/msg-20260102-030405-codex-0001.json", map[string]any{
		"id": "msg-20260102-030405-codex-0001", "timestamp": "2026-01-02T03:04:05Z", "session_id": "paper", "from": "codex", "to": "gil",
		"type": "task_assign", "content": map[string]any{"text": "Check the figures"},
	})
	task := w.request("gil").ID
	w.progress(gil, task, parley.TaskProgress{Fraction: &half, Message: "half way"})
	w.until("the report", func() bool { return len(w.files("channels/paper")) == 2 })
	w.progress(gil, task, parley.TaskProgress{Message: "stuck", Blockers: []string{"no data"}})
	w.until("the warning", func() bool { return len(w.files("channels/paper")) == 3 })
	var got []string
	for _, at := range w.files("channels/paper") {
		d := w.document(at)
		if d["from"] != "gil" {
			continue
		}
		metadata, content := d["metadata"].(map[string]any), d["content"].(map[string]any)
		got = append(got, fmt.Sprint(d["type"], " ", d["to"], " ", metadata["in_reply_to"], " ", content["text"]))
	}
	slices.Sort(got)
	want := []string{
		"chat all msg-20260102-030405-codex-0001 50 %: half way", "chat codex msg-20260102-030405-codex-0001 50 %: stuck (blocked: no data)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the reports are %q, want %q", got, want)
	}
}

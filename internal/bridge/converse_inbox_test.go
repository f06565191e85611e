package bridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

const (
	anaInbox   = "state/agents/ana/inbox"
	coderInbox = "state/agents/coder/inbox"
)

func routingTown(t *testing.T) *bridgedHub {
	t.Helper()
	return newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"coder", "tester"}}, map[string]string{
		"ana": "- match: {text: '(?i)audit'}\n  do:\n    - progress: {fraction: 0.5, message: half way}\n    - reply: audited\n- else:\n    - reply: heard\n",
	})
}

// routed is a document of S3.
func routed(n int, from, to, kind string, payload map[string]any) map[string]any {
	return map[string]any{
		"version": "1.0.0", "msg_id": fmt.Sprintf("msg_%08x", n), "from": from, "to": to, "sequence": n, "type": kind, "payload": payload,
		"timestamp": time.Date(2026, 1, 2, 3, 4, 5, n*1e6, time.UTC).Format("2006-01-02T15:04:05.000Z"),
	}
}

// TestInboxTaskEndsInOneResult has a script delegate to an agent of the hub, with the bridge killed after each of its steps.
func TestInboxTaskEndsInOneResult(t *testing.T) {
	for _, at := range append([]step{"never"}, steps...) {
		t.Run(string(at), func(t *testing.T) {
			w := routingTown(t)
			w.die.Store(&at)
			w.join()
			w.put(anaInbox+"/msg_00000001.json", routed(1, "coder", "ana", "task-delegation", map[string]any{"task": "Audit the tokens"}))
			w.until("the result", func() bool { return w.kinds(coderInbox)["result"] > 0 })
			w.until("the inbox is empty", func() bool { return len(w.files(anaInbox)) == 0 })
			w.until("the kill", func() bool { return at == "never" || w.kills.Load() == 1 })

			result := w.awaitKind(coderInbox, "result")
			payload := result["payload"].(map[string]any)
			if result["correlation_id"] != "msg_00000001" || result["from"] != "ana" || result["to"] != "coder" || payload["status"] != "success" {
				t.Errorf("the result is %v", result)
			}
			const sequence = "state/agents/ana/.sequences/coder"
			w.until("the sequence", func() bool {
				return len(w.files(sequence)) == 1 && w.text(sequence) == fmt.Sprintf("%.0f\n", result["sequence"])
			})
			tasks, err := w.Tasks(t.Context(), owner, parley.TaskFilter{Assignee: "ana"})
			if err != nil || len(tasks) != 1 || tasks[0].Status != parley.TaskCompleted {
				t.Errorf("%d tasks: %+v, %v", len(tasks), tasks, err)
			}
		})
	}
}

// TestInboxScriptDoesATaskOfTheHub delegates to a script, which tells of its progress and of the result.
func TestInboxScriptDoesATaskOfTheHub(t *testing.T) {
	for _, at := range append([]step{"never"}, steps...) {
		t.Run(string(at), func(t *testing.T) {
			w := routingTown(t)
			w.die.Store(&at)
			w.join()
			contacted, err := w.Contact(t.Context(), owner, parley.Contact{Pattern: parley.PatternDelegate, Agent: "coder", Message: "Write the parser"})
			if err != nil {
				t.Fatal(err)
			}
			order := w.awaitMail(coderInbox, 1)["task-delegation"]
			if order == nil || order["from"] != parley.Owner || !strings.Contains(fmt.Sprint(order["payload"]), "Write the parser") {
				t.Fatalf("the order is %v", order)
			}
			id := order["msg_id"].(string)
			w.take(coderInbox + "/" + id + ".json")

			news := routed(1, "coder", "user", "status-update", map[string]any{"status": "in_progress", "progress": 0.5, "message": "half"})
			news["correlation_id"] = id
			w.put("state/agents/user/inbox/msg_00000001.json", news)
			w.until("progress", func() bool { return w.task(contacted.Task).Progress != nil })
			result := routed(2, "coder", "user", "result", map[string]any{"status": "success", "deliverables": map[string]any{"files_modified": []string{"/src/a.go"}}})
			result["correlation_id"] = id
			w.put("state/agents/user/inbox/msg_00000002.json", result)
			w.until("the end", func() bool { return w.task(contacted.Task).Status.Ended() })
			w.until("the inbox is empty", func() bool { return len(w.files("state/agents/user/inbox")) == 0 })
			if task := w.task(contacted.Task); task.Status != parley.TaskCompleted || *task.Progress.Fraction != 0.5 {
				t.Errorf("the task is %+v", task.Task)
			}
			shown, err := w.Message(t.Context(), owner, contacted.Message)
			if err != nil || len(shown.Deliveries) != 1 || shown.Deliveries[0].State != parley.DeliveryAnswered {
				t.Errorf("the delivery is %+v, %v", shown.Deliveries, err)
			}
			if left := w.kinds(coderInbox)["task-delegation"]; left > 1 {
				t.Errorf("%d orders lie in the inbox: a crash may write one again, not another", left)
			}
		})
	}
}

// TestInboxOverflowTellsTheSender posts one more than an inbox holds.
func TestInboxOverflowTellsTheSender(t *testing.T) {
	w := routingTown(t)
	w.put(coderInbox+"/msg_00000001.json", routed(1, "tester", "coder", "status-update", map[string]any{"status": "completed", "message": "from a script"}))
	w.join()
	var first string
	for n := range 99 {
		receipt, err := w.Post(t.Context(), owner, parley.Draft{Direct: []string{"coder"}, Content: parley.Content{Text: fmt.Sprint("note ", n)}})
		if err != nil {
			t.Fatal(err)
		}
		w.until("written", func() bool { return w.state(receipt.Message.ID) != parley.DeliveryAccepted })
		if n == 0 {
			first = receipt.Message.ID
		}
	}
	for range 2 { // the script's file, which was copied in before, and the first message
		if _, err := w.Post(t.Context(), owner, parley.Draft{Direct: []string{"coder"}, Content: parley.Content{Text: "one more"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.until("the eviction", func() bool { return w.state(first) == parley.DeliveryEvicted })
	w.until("a hundred", func() bool { return len(w.files(coderInbox)) == 100 })
	const evicted = "WARN: Inbox overflow for coder (100 messages), evicted oldest: msg_"
	w.until("both lines", func() bool { return strings.Count(w.text("error.log"), evicted) == 2 })
	log := w.text("error.log")
	for _, line := range []string{"WARN: Inbox overflow for coder (100 messages), evicted oldest: msg_00000001"} {
		if strings.Count(log, line) != 1 || strings.Count(log, evicted) != 2 {
			t.Errorf("the log: %s", log)
		}
	}
	list, err := w.History(t.Context(), owner, w.directOf("tester", "coder"), parley.Page{Limit: 10})
	if err != nil || len(list) != 1 || list[0].Content.Text != "from a script" {
		t.Errorf("what was evicted and is a script's: %+v, %v", list, err)
	}
}

// TestInboxCutsLongTexts writes the whole text beside it.
func TestInboxCutsLongTexts(t *testing.T) {
	w := routingTown(t)
	w.join()
	long := strings.Repeat("All of it is needed. ", 1000)
	if _, err := w.Post(t.Context(), owner, parley.Draft{Direct: []string{"coder"}, Content: parley.Content{Text: long}}); err != nil {
		t.Fatal(err)
	}
	for kind, d := range w.awaitMail(coderInbox, 1) {
		name := d["msg_id"].(string)
		raw := w.text(coderInbox + "/" + name + ".json")
		if len(raw) > 10<<10 || !strings.Contains(raw, `"truncated"`) || !strings.Contains(raw, ".parley/artifacts/"+name+".txt") {
			t.Errorf("%s of %d bytes: %.200s", kind, len(raw), raw)
		}
		if whole := w.text(".parley/artifacts/" + name + ".txt"); whole != long {
			t.Errorf("the whole text has %d bytes, want %d", len(whole), len(long))
		}
	}
}

// kinds counts the documents of an inbox by their types.
func (w *bridgedHub) kinds(inbox string) map[string]int {
	n := map[string]int{}
	for _, at := range w.files(inbox) {
		n[w.document(at)["type"].(string)]++
	}
	return n
}

// awaitKind returns the one document of a type in an inbox.
func (w *bridgedHub) awaitKind(inbox, kind string) map[string]any {
	w.t.Helper()
	w.until(kind, func() bool { return w.kinds(inbox)[kind] > 0 })
	var found []map[string]any
	for _, at := range w.files(inbox) {
		if d := w.document(at); d["type"] == kind {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d documents of the type %s: %v", len(found), kind, found)
	}
	return found[0]
}

func (w *bridgedHub) task(id string) parley.TaskView {
	w.t.Helper()
	view, err := w.Task(w.t.Context(), owner, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return view
}

func (w *bridgedHub) state(message string) parley.DeliveryState {
	w.t.Helper()
	shown, err := w.Message(w.t.Context(), owner, message)
	if err != nil || len(shown.Deliveries) != 1 {
		w.t.Fatalf("%d deliveries: %v", len(shown.Deliveries), err)
	}
	return shown.Deliveries[0].State
}

// directOf is the DM of two.
func (w *bridgedHub) directOf(a, b string) string {
	w.t.Helper()
	views, _, err := w.Conversations(w.t.Context(), owner, parley.ListFilter{All: true, Limit: 500})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range views {
		if v.Kind == parley.DM && slices.Contains(v.Members, a) && slices.Contains(v.Members, b) {
			return v.ID
		}
	}
	w.t.Fatalf("%s and %s have no DM", a, b)
	return ""
}

// TestADuplicateIsLogged: the same document under another name is no other document, and the log says so.
func TestADuplicateIsLogged(t *testing.T) {
	w := routingTown(t)
	w.attached("gil")
	w.join()
	document := routed(1, "coder", "gil", "task-delegation", map[string]any{"task": "Audit the tokens"})
	w.put("state/agents/gil/inbox/msg_00000001.json", document)
	w.request("gil")
	w.put("state/agents/gil/inbox/copy.json", document)
	w.until("the copy is taken", func() bool { return len(w.files("state/agents/gil/inbox")) == 0 })
	w.until("the line", func() bool {
		return len(w.files("error.log")) == 1 && strings.Contains(w.text("error.log"), "copy.json: it is a duplicate: state/agents/gil/inbox/msg_00000001.json has delivered msg_00000001 before")
	})
	w.request("gil") // there is still one
}

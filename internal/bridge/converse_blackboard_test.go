package bridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func clawTown(t *testing.T) *bridgedHub {
	t.Helper()
	return newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"pm-web", "worker-1"}}, map[string]string{
		"ana": "- else:\n    - reply: done\n",
		"gm":  "- else:\n    - reply: planned\n",
	})
}

// clawed is a document of S1.
func clawed(id, from, to, kind string, payload map[string]any) map[string]any {
	return map[string]any{
		"version": "1.0", "id": id, "traceId": "trace-" + id, "type": kind, "priority": "high", "payload": payload,
		"from":      map[string]any{"agent": from, "session": "s1"},
		"to":        map[string]any{"agent": to},
		"timestamp": time.Now().Format("2006-01-02T15:04:05-07:00"),
	}
}

// TestBlackboardRequestIsAnswered has a script ask an agent of the hub, with the bridge killed after each of its steps.
func TestBlackboardRequestIsAnswered(t *testing.T) {
	for _, at := range append([]step{"never"}, steps...) {
		t.Run(string(at), func(t *testing.T) {
			w := clawTown(t)
			w.die.Store(&at)
			w.join()
			w.put("ana/inbox/r-1.json", clawed("r-1", "pm-web", "ana", "request", map[string]any{
				"action": "task.assign", "params": map[string]any{"text": "Fix the login"},
			}))
			response := w.awaitKind("pm-web/inbox", "response")
			payload := response["payload"].(map[string]any)
			if payload["requestId"] != "r-1" || payload["status"] != "success" || response["traceId"] != "trace-r-1" {
				t.Errorf("the response is %v", response)
			}
			w.until("processed", func() bool { return len(w.files("ana/inbox")) == 0 })
			w.until("the kill", func() bool { return at == "never" || w.kills.Load() == 1 })
			if done := w.files("ana/processed"); len(done) != 1 || done[0] != "ana/processed/r-1.json" {
				t.Errorf("processed: %q", done)
			}
			w.until("the task is shown", func() bool { return len(w.files("tasks")) == 1 })
			w.until("as completed", func() bool { return w.document(w.files("tasks")[0])["status"] == "completed" })
		})
	}
}

// TestBlackboardScriptReads has a script move what it has read, as S1's does.
func TestBlackboardScriptReads(t *testing.T) {
	w := clawTown(t)
	w.join()
	receipt, err := w.Post(t.Context(), owner, parley.Draft{Direct: []string{"worker-1"}, Content: parley.Content{Text: "Look at this"}})
	if err != nil {
		t.Fatal(err)
	}
	request := w.awaitMail("worker-1/inbox", 1)["request"]
	if request == nil || request["id"] != receipt.Message.ID || !strings.Contains(fmt.Sprint(request["payload"]), "Look at this") {
		t.Fatalf("the request is %v", request)
	}
	w.until("delivered", func() bool { return w.state(receipt.Message.ID) == parley.DeliveryDelivered })
	name := receipt.Message.ID + ".json"
	if err := os.MkdirAll(filepath.Join(w.dir, "worker-1/processed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(w.dir, "worker-1/inbox", name), filepath.Join(w.dir, "worker-1/processed", name)); err != nil {
		t.Fatal(err)
	}
	w.until("seen", func() bool { return w.state(receipt.Message.ID) == parley.DeliverySeen })
	answer := clawed("a-1", "worker-1", parley.Owner, "response", map[string]any{"requestId": receipt.Message.ID, "status": "success", "result": map[string]any{"text": "fine"}, "error": nil})
	w.put("user/inbox/a-1.json", answer)
	w.until("answered", func() bool { return w.state(receipt.Message.ID) == parley.DeliveryAnswered })
}

// TestBlackboardQueueMakesTasks gives what is for nobody to gm.
func TestBlackboardQueueMakesTasks(t *testing.T) {
	w := clawTown(t)
	w.join()
	request := clawed("q-1", "pm-web", "anybody", "request", map[string]any{"action": "task.assign", "params": map[string]any{"text": "Plan the week"}})
	w.put("inbox/q-1.json", request)
	w.put("shared/notes.json", map[string]any{"not": "a message"})
	w.until("the task is done", func() bool {
		tasks, err := w.Tasks(t.Context(), owner, parley.TaskFilter{Assignee: "gm"})
		if err != nil || len(tasks) > 1 {
			t.Fatalf("%d tasks: %v", len(tasks), err)
		}
		return len(tasks) == 1 && tasks[0].Status == parley.TaskCompleted
	})
	w.until("processed", func() bool { return len(w.files("inbox")) == 0 })
	if got := append(w.files("processed"), w.files("shared")...); len(got) != 2 || got[0] != "processed/q-1.json" || got[1] != "shared/notes.json" {
		t.Errorf("the tree has %q", got)
	}
	w.until("mirrored", func() bool {
		list := w.files("tasks")
		return len(list) == 1 && w.document(list[0])["assignee"] == "gm" && w.document(list[0])["status"] == "completed"
	})
}

// TestBlackboardExpiredIsOnlyLogged finds a message too late.
func TestBlackboardExpiredIsOnlyLogged(t *testing.T) {
	w := clawTown(t)
	late := clawed("old-1", "pm-web", "ana", "request", map[string]any{"action": "task.assign", "params": map[string]any{"text": "Too late"}})
	late["timestamp"], late["ttl"] = "2026-02-25T18:50:00+08:00", 60
	w.put("ana/inbox/old-1.json", late)
	w.join()
	w.until("processed", func() bool { return len(w.files("ana/processed")) == 1 })
	if log := w.text(".parley/bridge.log"); strings.Count(log, "Expired message: old-1") != 1 {
		t.Errorf("the log: %s", log)
	}
	if tasks, err := w.Tasks(t.Context(), owner, parley.TaskFilter{}); err != nil || len(tasks) > 0 {
		t.Errorf("%d tasks: %v", len(tasks), err)
	}
}

// TestBlackboardScriptsAmongThemselves are copied in and left alone.
func TestBlackboardScriptsAmongThemselves(t *testing.T) {
	w := clawTown(t)
	w.put("worker-1/inbox/w-1.json", clawed("w-1", "pm-web", "worker-1", "request", map[string]any{"action": "task.assign", "params": map[string]any{"text": "Between us"}}))
	w.join()
	w.until("copied", func() bool {
		views, _, err := w.Conversations(t.Context(), owner, parley.ListFilter{All: true, Limit: 10})
		return err == nil && len(views) == 1
	})
	list, err := w.History(t.Context(), owner, w.directOf("pm-web", "worker-1"), parley.Page{Limit: 10})
	if err != nil || len(list) != 1 || len(w.files("worker-1")) != 1 {
		t.Errorf("%d messages, the tree has %q: %v", len(list), w.files("."), err)
	}
	if tasks, err := w.Tasks(t.Context(), owner, parley.TaskFilter{}); err != nil || len(tasks) > 0 {
		t.Errorf("%d tasks: %v", len(tasks), err)
	}
}

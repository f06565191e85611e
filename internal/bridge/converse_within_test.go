package bridge_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestBlackboardTaskAmongScripts has one script put a request into the queue, and the agent of the queue, which lives in the tree too,
// answer it in the inbox of the first.
func TestBlackboardTaskAmongScripts(t *testing.T) {
	w := newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"gm", "assistant"}}, nil)
	w.join()
	w.put("inbox/q-1.json", clawed("q-1", "assistant", "gm", "request", map[string]any{
		"action": "task.assign", "params": map[string]any{"text": "Plan the week"},
	}))
	request := w.awaitMail("gm/inbox", 1)["request"]
	if request["id"] != "q-1" || w.files("gm/inbox")[0] != "gm/inbox/q-1.json" {
		t.Fatalf("the request is %v, in %q", request, w.files("gm/inbox"))
	}
	w.put("assistant/inbox/a-1.json", clawed("a-1", "gm", "assistant", "response", map[string]any{
		"requestId": request["id"], "status": "success", "result": map[string]any{"text": "planned"}, "error": nil,
	}))
	w.until("the task is shown as completed", func() bool {
		list := w.files("tasks")
		return len(list) == 1 && w.document(list[0])["status"] == "completed"
	})
	list, err := w.History(t.Context(), owner, w.directOf("assistant", "gm"), parley.Page{Limit: 10})
	if err != nil || len(list) != 2 || w.state(list[0].ID) != parley.DeliveryAnswered || list[1].InReplyTo != list[0].ID {
		t.Errorf("%d messages, the first is %s: %v", len(list), w.state(list[0].ID), err)
	}
	if got := w.files("assistant"); len(got) != 1 {
		t.Errorf("the requester has %q", got)
	}
}

package bridge_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestTreesConverse has scripts of three trees talk to each other, each in its own format, with one of the bridges killed after each
// of its steps.
func TestTreesConverse(t *testing.T) {
	for _, at := range append([]step{"never"}, steps...) {
		t.Run(string(at), func(t *testing.T) {
			board := newBridgedHub(t, parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"pm-web"}, QueueAgent: "pm-web"}, nil)
			inboxes := board.beside(parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"coder"}})
			channels := board.beside(parley.NewBridge{Layout: parley.LayoutAgentOS, Agents: []string{"codex"}, Channels: []string{"paper"}})
			inboxes.die.Store(&at)
			for _, tree := range []*bridgedHub{board, inboxes, channels} {
				tree.join()
			}

			board.put("coder/inbox/r-1.json", clawed("r-1", "pm-web", "coder", "request", map[string]any{
				"action": "task.assign", "params": map[string]any{"text": "Fix the login"},
			}))
			order := inboxes.awaitKind(coderInbox, "task-delegation")
			if order["from"] != "pm-web" || order["to"] != "coder" || order["sequence"] != 1.0 {
				t.Fatalf("the order is %v", order)
			}
			board.until("processed", func() bool { return len(board.files("coder/inbox")) == 0 && len(board.files("coder/processed")) == 1 })
			inboxes.until("the sequence", func() bool { return len(inboxes.files("state/agents/pm-web/.sequences/coder")) == 1 })

			result := routed(1, "coder", "pm-web", "result", map[string]any{"status": "success", "message": "fixed"})
			result["correlation_id"] = order["msg_id"]
			inboxes.put("state/agents/pm-web/inbox/msg_00000001.json", result)
			response := board.awaitKind("pm-web/inbox", "response")
			payload := response["payload"].(map[string]any)
			if payload["requestId"] != "r-1" || payload["status"] != "success" || response["traceId"] != "trace-r-1" {
				t.Errorf("the response is %v", response)
			}
			inboxes.until("the kill", func() bool { return at == "never" || inboxes.kills.Load() == 1 })
			inboxes.until("the inbox is empty", func() bool { return len(inboxes.files("state/agents/pm-web/inbox")) == 0 })

			channels.until("the beginning", func() bool { return len(channels.files(".parley/added")) == 1 }) // what is there before is history
			channels.put("channels/paper/msg-20260102-030405-codex-0001.json", map[string]any{
				"id": "msg-20260102-030405-codex-0001", "timestamp": "2026-01-02T03:04:05Z", "session_id": "paper", "from": "codex", "to": "coder",
				"type": "chat", "content": map[string]any{"text": "@coder look at the figures"},
			})
			inboxes.until("the question", func() bool { return len(inboxes.files(coderInbox)) == 2 })
			asked := inboxes.document(inboxes.files(coderInbox)[0])
			if asked["from"] == "pm-web" {
				asked = inboxes.document(inboxes.files(coderInbox)[1])
			}
			news := routed(2, "coder", "codex", "result", map[string]any{"status": "success", "message": "they are right"})
			news["correlation_id"] = asked["msg_id"]
			inboxes.put("state/agents/codex/inbox/msg_00000002.json", news)
			channels.until("the answer", func() bool { return len(channels.files("channels/paper")) == 2 })
			answer := channels.document(channels.files("channels/paper")[1])
			if metadata := answer["metadata"].(map[string]any); answer["from"] != "coder" || metadata["in_reply_to"] != "msg-20260102-030405-codex-0001" {
				t.Errorf("the answer is %v", answer)
			}
		})
	}
}

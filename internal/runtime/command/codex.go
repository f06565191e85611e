package command

import (
	"strings"

	"github.com/parley-hub/parley"
)

// codex is an event of codex exec --json.
type codex struct {
	Type    string      `json:"type"`
	Thread  string      `json:"thread_id"`
	Message string      `json:"message"`
	Item    contentPart `json:"item"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct { // of the whole session
		Input  int64 `json:"input_tokens"` // including cached tokens
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// codexEvent adds an event to a transcript, and returns its text for watchers. An item of type error is a warning. After an
// event of type error, Codex may retry. Only turn.failed is a failure.
func codexEvent(t *transcript, e codex) string {
	switch e.Type {
	case "thread.started":
		t.session = e.Thread
	case "item.completed":
		if e.Item.Type == "agent_message" {
			t.text = []byte(e.Item.Text)
			return e.Item.Text
		}
	case "error":
		t.noteRetry(0, e.Message)
	case "turn.completed":
		t.done = true
		t.total = parley.Usage{InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output}
	case "turn.failed":
		t.done = true
		t.fail(0, strings.TrimSpace(e.Error.Message))
	}
	return ""
}

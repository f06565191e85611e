package command

import "github.com/parley-hub/parley"

// gemini is an event of Gemini CLI's stream-json.
type gemini struct {
	Type    string `json:"type"`
	Session string `json:"session_id"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

// geminiEvent adds an event to a transcript, and returns its text for watchers. The text of an answer comes in pieces. Text
// before the end of a tool call is not part of the answer.
func geminiEvent(t *transcript, e gemini) string {
	switch e.Type {
	case "init":
		t.session = e.Session
	case "message":
		if e.Role == "assistant" {
			t.text = append(t.text, e.Content...)
			return e.Content
		}
	case "tool_use", "tool_result":
		t.text = nil
	case "error":
		t.noteRetry(0, e.Message)
	case "result":
		t.done = true
		t.usage = parley.Usage{InputTokens: e.Stats.Input, OutputTokens: e.Stats.Output}
		if e.Status != "success" {
			t.fail(0, e.Error.Message)
		}
	}
	return ""
}

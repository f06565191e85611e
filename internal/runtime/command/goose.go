package command

// goose is an event of goose run --output-format stream-json.
type goose struct {
	Type    string `json:"type"`
	Message struct {
		Role    string        `json:"role"`
		Content []contentPart `json:"content"`
	} `json:"message"`
	Error string `json:"error"`
	Total int64  `json:"total_tokens"` // input and output tokens together
}

// gooseEvent adds an event to a transcript, and returns its text for watchers. The text of an answer comes in pieces. Text
// before the result of a tool is not part of the answer.
func gooseEvent(t *transcript, e goose) string {
	switch e.Type {
	case "message":
		text := joinTexts(e.Message.Content)
		if e.Message.Role != "assistant" {
			t.text = nil
			return ""
		}
		t.text = append(t.text, text...)
		return text
	case "complete":
		t.done = true
		t.usage.InputTokens = e.Total
	case "error":
		t.done = true
		t.fail(0, e.Error)
	}
	return ""
}

package command

// goose is an event of goose run --output-format stream-json.
type goose struct {
	Type    string `json:"type"`
	Message struct {
		Role    string        `json:"role"`
		Content []contentPart `json:"content"`
	} `json:"message"`
	Error string `json:"error"`
	Total int64  `json:"total_tokens"` // it does not tell which of them were read and which written
}

// gooseEvent: text comes in pieces. What was said before a tool answered is no part of the answer.
func gooseEvent(t *transcript, e goose) string {
	switch e.Type {
	case "message":
		said := joinTexts(e.Message.Content)
		if e.Message.Role != "assistant" {
			t.text = nil
			return ""
		}
		t.text = append(t.text, said...)
		return said
	case "complete":
		t.done = true
		t.usage.InputTokens = e.Total
	case "error":
		t.done = true
		t.fail(0, e.Error)
	}
	return ""
}

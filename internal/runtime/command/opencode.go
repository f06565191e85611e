package command

import "github.com/parley-hub/parley"

// openCode is an event of opencode run --format json.
type openCode struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		contentPart
		Reason string  `json:"reason"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
}

// openCodeEvent adds an event to a transcript, and returns its text for watchers. The last step has the answer. After a step
// that ends with tool calls, another step follows.
func openCodeEvent(t *transcript, e openCode) string {
	if e.Session != "" {
		t.session = e.Session
	}
	switch e.Type {
	case "step_start":
		t.text = nil
	case "text":
		t.text = append(t.text, e.Part.Text...)
		return e.Part.Text
	case "step_finish":
		tokens := e.Part.Tokens
		t.usage = t.usage.Plus(parley.Usage{
			InputTokens:  tokens.Input + tokens.Cache.Read + tokens.Cache.Write,
			OutputTokens: tokens.Output + tokens.Reasoning,
			Cost:         e.Part.Cost,
		})
		t.done = e.Part.Reason != "tool-calls"
	case "error":
		t.done = true
		t.fail(e.Error.Data.Status, e.Error.Data.Message, e.Error.Name)
	}
	return ""
}

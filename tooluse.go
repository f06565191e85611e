package parley

import (
	"encoding/json"
	"time"
)

// ToolUse is a call of a tool that an agent's client wants to make outside of the hub, such as a command in a shell. The client asks
// the hub, and a person decides.
type ToolUse struct {
	Client  string          `json:"client" doc:"The client: claude, codex, gemini, opencode, cursor or another."`
	Session string          `json:"session,omitempty" doc:"The key of the client's session."`
	Dir     string          `json:"dir,omitempty" doc:"The directory in which the client works."`
	Tool    string          `json:"tool" doc:"The client's name of the tool."`
	Input   json.RawMessage `json:"input,omitempty" doc:"The arguments of the tool, a JSON object."`
}

const (
	maxToolClient = 64
	maxToolName   = 256
	maxToolDir    = 4 << 10
	maxToolInput  = 64 << 10
	maxToolDepth  = 32
)

// MaxToolUseWait is how long a client can wait for the decision about the use of a tool.
const MaxToolUseWait = 10 * time.Minute

// Check returns the tool use with its defaults, or E003 if it is wrong.
func (t ToolUse) Check() (ToolUse, error) {
	if t.Client == "" || t.Tool == "" {
		return t, Errorf(BadInput, "the request names no client or no tool").Suggest("name both")
	}
	if t.Session != "" {
		if err := CheckSessionKey(t.Session); err != nil {
			return t, err
		}
	}
	for _, text := range []struct {
		name, text string
		limit      int
	}{{"client", t.Client, maxToolClient}, {"tool", t.Tool, maxToolName}, {"dir", t.Dir, maxToolDir}, {"input", string(t.Input), maxToolInput}} {
		if err := checkText(text.name, text.text, text.limit); err != nil {
			return t, err
		}
	}
	if len(t.Input) == 0 {
		t.Input = json.RawMessage("{}")
	}
	compact, err := CompactObject("input", t.Input, Limits{Body: maxToolInput, Depth: maxToolDepth})
	t.Input = compact
	return t, err
}

// ApprovalParts returns what the approver reads of the call: everything that the client says of it.
func (t ToolUse) ApprovalParts() []ApprovalPart {
	parts := []ApprovalPart{{"Client", t.Client}, {"Directory", t.Dir}}
	rest := map[string]json.RawMessage{}
	if json.Unmarshal(t.Input, &rest) != nil {
		return append(parts, ApprovalPart{"Input", string(t.Input)})
	}
	var command string
	if json.Unmarshal(rest["command"], &command) == nil && command != "" {
		parts = append(parts, ApprovalPart{"Command", command})
		delete(rest, "command")
	}
	if len(rest) > 0 {
		text, _ := sortedJSON(rest) // a map of JSON has no value that cannot be encoded
		parts = append(parts, ApprovalPart{"Input", string(text)})
	}
	return parts
}

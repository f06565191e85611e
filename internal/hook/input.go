package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"io"

	"github.com/parley-hub/parley"
)

// maxInput is how much a hook reads, in bytes. A client passes the result of a tool, which can be long.
const maxInput = 32 << 20

// input is what the clients tell a hook, as far as it matters. Each client uses some of the fields.
type input struct {
	SessionID      string          `json:"session_id"`      // Claude Code, Codex, Gemini CLI
	ConversationID string          `json:"conversation_id"` // Cursor
	SessionOf      string          `json:"sessionID"`       // OpenCode
	Dir            string          `json:"cwd"`
	StopActive     bool            `json:"stop_hook_active"` // a hook has prolonged the turn
	LoopCount      int             `json:"loop_count"`       // Cursor: how often
	AgentID        string          `json:"agent_id"`         // of a subagent
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`

	// A permission of OpenCode.
	Type     string          `json:"type"`
	Title    string          `json:"title"`
	Pattern  json.RawMessage `json:"pattern"`
	Metadata json.RawMessage `json:"metadata"`
}

// readInput reads the input of a hook until ctx ends.
func readInput(ctx context.Context, from io.Reader) (in input, err error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(from, maxInput))
		read <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return in, context.Cause(ctx)
	case got := <-read:
		if got.err != nil {
			return in, got.err
		}
		return in, json.Unmarshal(got.text, &in)
	}
}

// key returns the key of the client session, which is the client's own id, or "" if there is none that can be a key.
func (in input) key() string {
	key := cmp.Or(in.SessionID, in.SessionOf, in.ConversationID)
	if parley.CheckSessionKey(key) != nil {
		return ""
	}
	return key
}

// toolUse returns the call of a tool for which the client needs a permission.
func (in input) toolUse(client, session string) parley.ToolUse {
	use := parley.ToolUse{Client: client, Session: session, Dir: in.Dir, Tool: in.ToolName, Input: in.ToolInput}
	if use.Tool == "" {
		use.Tool = in.Type
		use.Input = objectOf(map[string]json.RawMessage{"title": textOf(in.Title), "pattern": in.Pattern, "metadata": in.Metadata})
	}
	return use
}

// objectOf returns the fields that have a value as a JSON object.
func objectOf(fields map[string]json.RawMessage) json.RawMessage {
	for name, value := range fields {
		if len(value) == 0 {
			delete(fields, name)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return text
}

func textOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	text, _ := json.Marshal(s) // a string has a JSON form
	return text
}

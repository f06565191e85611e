package hook

import (
	"bytes"
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
	Workspaces     []string        `json:"workspace_roots"`  // Cursor
	StopActive     bool            `json:"stop_hook_active"` // a hook has prolonged the turn
	LoopCount      int             `json:"loop_count"`       // Cursor: how often
	AgentID        string          `json:"agent_id"`         // of a subagent
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`

	// A permission of OpenCode: what its dialog shows, and the call of a tool that needs it, if the plugin has found it.
	Permission string          `json:"permission"`
	Patterns   json.RawMessage `json:"patterns"`
	Metadata   json.RawMessage `json:"metadata"`
	Call       struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	} `json:"call"`
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
	if in.Permission != "" {
		use.Tool, use.Input = in.Permission, in.permissionInput()
	}
	return use
}

// permissionInput returns everything that OpenCode says of a permission, with the command that a shell would run in its own field. Another
// plugin can change the arguments of the tool before it runs, so they do not replace the metadata.
func (in input) permissionInput() json.RawMessage {
	asked := permissionInput{Patterns: in.Patterns, Metadata: fieldsOf(in.Metadata), Arguments: fieldsOf(in.Call.Input)}
	if in.Call.Tool != in.Permission {
		asked.Tool = in.Call.Tool
	}
	asked.Command = asked.Metadata["command"]
	delete(asked.Metadata, "command")
	if bytes.Equal(asked.Arguments["command"], asked.Command) {
		delete(asked.Arguments, "command")
	}
	return marshal(asked)
}

// permissionInput is what a person reads of a permission of OpenCode.
type permissionInput struct {
	Command   json.RawMessage            `json:"command,omitempty"`
	Tool      string                     `json:"tool,omitempty"` // unless the permission has its name
	Patterns  json.RawMessage            `json:"patterns,omitempty"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty"`
}

// fieldsOf returns the fields of a JSON object, or nothing if it is none.
func fieldsOf(raw json.RawMessage) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &fields)
	return fields
}

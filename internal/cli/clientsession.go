package cli

import (
	"os"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/peer"
)

// Clients do not tell their MCP server the id of their session, except Claude Code. Then the process of the client stands for its session,
// so that the hooks and the server of a client have the same client session. That is right for clients with one session at a time: the end
// of a turn settles what the session holds.

// oneSession are the clients with one session at a time in a process.
var oneSession = []string{"codex", "gemini"}

// mcpSession returns the key of the client session of an MCP server. client and id are what peer.OwnClient returns: a client that Claude
// Code has started has the variable too. There is no id for a client with several windows in one process.
func mcpSession(client, id string) string {
	key := os.Getenv("CLAUDE_CODE_SESSION_ID")
	switch {
	case slices.Contains(oneSession, client) && id != "":
		return id
	case (client == "" || client == "claude") && parley.CheckSessionKey(key) == nil:
		return key
	default:
		return randomSessionKey("mcp") // clients of one agent in several containers can have the same pid
	}
}

// sessionVariable is the variable by which a detached hook knows the key of its client session: it has another parent.
const sessionVariable = "PARLEY_CLIENT_SESSION"

// hookSession returns the key of the client session of a hook, or "" if it is the id that the client tells the hook.
func hookSession(client string) string {
	if key := os.Getenv(sessionVariable); key != "" {
		return key
	}
	if name, id := peer.OwnClient(); name == client && slices.Contains(oneSession, name) {
		return id
	}
	return ""
}

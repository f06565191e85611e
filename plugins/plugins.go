// Package plugins has the plugins for agent clients: the folders claude, codex and gemini, which a person installs with the client, and
// the plugin for OpenCode, which "parley connect opencode" writes.
package plugins

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

//go:embed opencode/parley.js
var openCodePlugin []byte

// openCodeCommand is the line of the plugin that says which command the hooks run.
const openCodeCommand = `const command = ["parley", "hook", "opencode", "--agent", "opencode"]`

// OpenCode returns the plugin for OpenCode. Its hooks run the command. The event becomes the fourth word.
func OpenCode(command []string) []byte {
	words, _ := json.Marshal(command) // strings
	return bytes.Replace(openCodePlugin, []byte(openCodeCommand), append([]byte("const command = "), words...), 1)
}

package connect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// hook is an event at which a client runs a command of Parley.
type hook struct {
	event   string
	at      string // the client's event at which the command runs, if it is another one
	matcher string // which tools, or which beginnings of a session; "" for all, and for events that know none
	timeout int    // in the unit of the client
	rewakes bool   // the command runs while the client is idle, and wakes it
}

// Timeouts of hooks, in seconds. The command itself ends long before, unless it waits for mail or for the decision of a person.
const (
	quickHook      = 10
	codexEndHook   = 3 // Codex shows a problem for more
	permissionHook = 600
	idleHook       = 7 * 24 * 3600
	geminiHook     = 10_000 // milliseconds
	geminiIdleHook = 60_000 // milliseconds; Gemini CLI is busy until the hook ends
)

// betweenTurns are the beginnings of a session of Claude Code after which it is idle. It also begins a session anew when it compacts one,
// in the middle of a turn.
const betweenTurns = "startup|resume|clear|fork"

// hooksOf lists the hooks of each client.
var hooksOf = map[string][]hook{
	"claude": {
		{event: "SessionStart", timeout: quickHook},
		{event: "Stop", at: "SessionStart", matcher: betweenTurns, timeout: idleHook, rewakes: true}, // wakes a session without a turn yet
		{event: "UserPromptSubmit", timeout: quickHook},
		{event: "PostToolUse", matcher: "*", timeout: quickHook},
		{event: "PermissionRequest", matcher: "*", timeout: permissionHook},
		{event: "Stop", timeout: idleHook, rewakes: true},
		{event: "SessionEnd", timeout: quickHook}, // ends the hook that waits
	},
	"codex": {
		{event: "SessionStart", timeout: quickHook},
		{event: "UserPromptSubmit", timeout: quickHook},
		{event: "PostToolUse", timeout: quickHook},
		{event: "PermissionRequest", timeout: permissionHook},
		{event: "Stop", timeout: quickHook},
		{event: "SessionEnd", timeout: codexEndHook},
	},
	"gemini": {
		{event: "SessionStart", timeout: geminiHook},
		{event: "BeforeAgent", timeout: geminiHook},
		{event: "AfterTool", matcher: "*", timeout: geminiHook},
		{event: "AfterAgent", timeout: geminiIdleHook},
	},
	"cursor": {{event: "stop"}},
}

// maxCursorLoops is how often a hook may prolong a turn of Cursor.
const maxCursorLoops = 5

// hookCommand returns the command line of the hooks of a client, without the event.
func (s Setup) hookCommand(client string) []string {
	words := s.command("hook", client)
	if s.Project == "" {
		words = append(words, strings.Fields(userScope)...)
	}
	return words
}

// hookLine returns the command of a hook for a shell.
func (s Setup) hookLine(event string) string {
	words := slices.Insert(s.hookCommand(s.Client.ID), 3, event)
	for i, word := range words {
		words[i] = ShellQuote(word)
	}
	return strings.Join(words, " ")
}

// hookEdits registers the hooks.
func (s Setup) hookEdits() (edits []edit) {
	for _, h := range hooksOf[s.Client.ID] {
		edits = append(edits, jsonHook{[]string{"hooks", cmp.Or(h.at, h.event)}, s.Client.ID, h.event, s.hookLine(h.event), s.hookValue(h)})
	}
	return edits
}

// hookValue returns the JSON of a hook. In all clients but Cursor, it is a group of commands for some tools.
func (s Setup) hookValue(h hook) object {
	if s.Client.ID == "cursor" {
		return object{{"command", s.hookLine(h.event)}, {"loop_limit", maxCursorLoops}}
	}
	command := object{{"type", "command"}, {"command", s.hookLine(h.event)}, {"timeout", h.timeout}}
	if s.Client.ID == "gemini" {
		command = append(object{{"name", serverName}}, command...)
	}
	if h.rewakes {
		command = append(command, member{"asyncRewake", true})
	}
	group := object{{"hooks", []object{command}}}
	if h.matcher != "" {
		group = append(object{{"matcher", h.matcher}}, group...)
	}
	return group
}

// isHook reports whether the JSON of a hook runs "parley hook" for an event of a client.
func isHook(item []byte, client, event string) bool {
	var hook struct{ Command string }
	return json.Unmarshal(item, &hook) == nil && strings.Contains(hook.Command, " hook "+client+" "+event+" --agent ")
}

// hooksIn returns the commands of a group of hooks.
func hooksIn(group []byte) []json.RawMessage {
	var of struct{ Hooks []json.RawMessage }
	if json.Unmarshal(group, &of) != nil {
		return nil
	}
	return of.Hooks
}

// ShellQuote quotes a word for a POSIX shell, if it must be quoted.
func ShellQuote(word string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

package hook

import "github.com/parley-hub/parley"

// exitWake is the exit code by which a hook of Claude Code wakes it (with asyncRewake), or prolongs the turn. Its text is on standard
// error.
const exitWake = 2

// claude is Claude Code. Its hook at the end of a turn runs beside the idle client, if it is registered with asyncRewake.
var claude = client{
	events: map[string]meaning{
		"SessionStart": sessionBegins, "UserPromptSubmit": turnBegins, "PostToolUse": toolEnded,
		"PermissionRequest": toolAsks, "Stop": turnEnds, "SessionEnd": sessionEnds,
	},
	wake:         parley.WakeHook,
	shares:       true,
	wait:         idleWait,
	attended:     attendedClaude,
	addContext:   contextJSON,
	beginTurn:    func(_, text string) answer { return answer{err: text, code: exitWake} },
	decisionWait: besideDialog,
	decide:       permissionJSON,
}

// attendedClaude reports whether Claude Code is interactive. Without a terminal (claude -p), it ends after the turn.
func attendedClaude(env func(string) string) bool {
	entry := env("CLAUDE_CODE_ENTRYPOINT")
	return entry == "" || entry == "cli"
}

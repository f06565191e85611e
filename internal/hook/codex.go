package hook

import "github.com/parley-hub/parley"

// codex is Codex. It is not idle while a hook waits at the end of a turn, so the hook does not wait: it prolongs the turn if there is
// mail. Otherwise it leaves a hook behind that waits, and that puts a prompt into the queue of the idle client: "codex queue".
var codex = client{
	events: map[string]meaning{
		"SessionStart": sessionBegins, "UserPromptSubmit": turnBegins, "PostToolUse": toolEnded,
		"PermissionRequest": toolAsks, "Stop": turnEnds, "SessionEnd": sessionEnds,
		"queue": clientIdles,
	},
	wake:         parley.WakeQueue,
	queues:       "queue",
	blocks:       true,
	attended:     always,
	addContext:   contextJSON,
	beginTurn:    func(_, text string) answer { return answerJSON(object{"decision": "block", "reason": text}) },
	decisionWait: beforeDialog,
	decide:       permissionJSON,
}

// always says that a client outlives its turns.
func always(func(string) string) bool { return true }

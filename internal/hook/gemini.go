package hook

import (
	"time"

	"github.com/parley-hub/parley"
)

// gemini is Gemini CLI. Nothing wakes it once it is idle, so the hook waits before: the client calls it at the end of a turn, and ends
// hooks after 60 s by default.
var gemini = client{
	events: map[string]meaning{
		"SessionStart": sessionBegins, "BeforeAgent": turnBegins, "AfterTool": toolEnded, "AfterAgent": turnEnds, "SessionEnd": sessionEnds,
	},
	wake:       parley.WakeHook,
	wait:       50 * time.Second,
	blocks:     true,
	attended:   always,
	addContext: contextJSON,
	beginTurn:  func(_, text string) answer { return answerJSON(object{"decision": "deny", "reason": text}) },
}

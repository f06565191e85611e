package hook

import "github.com/parley-hub/parley"

// opencode is OpenCode. It has no hooks that are commands: the plugin that "parley connect" installs calls this one, and does what the
// answer says. {"context": …} is a text for the model, {"prompt": …} is the prompt of a new turn, {"status": "allow"} or "deny" is a
// decision.
var opencode = client{
	events: map[string]meaning{
		"session.created": sessionBegins, "chat.message": turnBegins, "tool.execute.after": toolEnded,
		"permission.asked": toolAsks, "session.idle": turnEnds, "session.deleted": sessionEnds,
	},
	wake:         parley.WakePlugin,
	wait:         idleWait,
	attended:     always,
	addContext:   func(_, text string) answer { return answerJSON(object{"context": text}) },
	beginTurn:    func(_, text string) answer { return answerJSON(object{"prompt": text}) },
	decisionWait: besideDialog,
	decide: func(allow bool, why string) answer {
		if allow {
			return answerJSON(object{"status": "allow"})
		}
		return answerJSON(object{"status": "deny", "reason": why})
	},
}

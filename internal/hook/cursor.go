package hook

import "github.com/parley-hub/parley"

// cursor is Cursor. It has one hook of use, at the end of a turn, and ends it after a short time.
var cursor = client{
	events:     map[string]meaning{"stop": turnEnds},
	wake:       parley.WakeNone,
	blocks:     true,
	attended:   always,
	addContext: func(string, string) answer { return answer{} },
	beginTurn:  func(_, text string) answer { return answerJSON(object{"followup_message": text}) },
}

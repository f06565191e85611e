package unit

import (
	"github.com/parley-hub/parley"
)

// Circle is whom an event is for, beside owners and the hub itself, who see everything.
type Circle struct {
	Everybody bool
	Readers   string // those who may read this conversation
	Only      string // of these, only this participant
	Also      string // this participant in any case
	Task      string // those who may see this task
	Approval  string // whose call this is, and who decides it
}

// Unsettles says whether somebody may see less after an event than before it: its participant, or,
// if it names none, anybody.
func Unsettles(e parley.Event) bool {
	switch e.Kind {
	case parley.EventMemberLeft, parley.EventAgentChanged, parley.EventAgentRemoved, parley.EventConversationDeleted:
		return true
	default:
		return false
	}
}

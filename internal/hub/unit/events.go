package unit

import (
	"github.com/parley-hub/parley"
)

// Circle names the participants that see an event, beside owners and the hub itself, who see every event.
type Circle struct {
	Everybody bool
	Readers   string // the participants that may read this conversation
	Only      string // of the readers, only this participant
	Also      string // this participant too
	Task      string // the participants that may see this task
	Approval  string // the agent whose call this is, and its approvers
}

// Unsettles reports whether a participant may see less after an event than before it: the event's participant, or any
// participant if the event names none.
func Unsettles(e parley.Event) bool {
	switch e.Kind {
	case parley.EventMemberLeft, parley.EventAgentChanged, parley.EventAgentRemoved, parley.EventConversationDeleted:
		return true
	default:
		return false
	}
}

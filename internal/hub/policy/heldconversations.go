package policy

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ConversationArgs are the arguments of a change to an existing conversation, by ids.
type ConversationArgs struct {
	Conversation string                     `json:"conversation"`
	Act          string                     `json:"act"`
	Agent        string                     `json:"agent,omitempty"` // who is added or removed
	Change       *parley.ConversationChange `json:"change,omitempty"`
}

// The acts.
const (
	JoinsConversation   = "join"
	LeavesConversation  = "leave"
	AddsMember          = "add"
	RemovesMember       = "remove"
	ChangesConversation = "change"
)

// MayAdd refuses or holds adding participants to a conversation, because that is contacting them. A refusal comes before an
// approval, and an approval that only a person may give comes before any other.
func MayAdd(u *unit.Unit, o unit.Origin, ids ...string) error {
	var needed error
	for _, id := range ids {
		if id == u.Me.ID {
			continue
		}
		target, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := Rules(u, target)
		if err == nil {
			err = ObeyVerdict(u, o, v, target)
		}
		why, held := errors.AsType[unit.HeldBy](err)
		if err != nil && !held {
			return err
		}
		if held && (needed == nil || why.Verdict.RequiresHuman) {
			needed = err
		}
	}
	return needed
}

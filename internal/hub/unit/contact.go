package unit

import (
	"github.com/parley-hub/parley"
)

// SourceContact is the source of the messages by which participants turn to each other.
const SourceContact = parley.SourceContact

// Origin is what a call comes from: a run, or a participant outside of one; and the approval it was given, if it
// needed one.
type Origin struct {
	Caller   Caller
	Run      *parley.Run      // live, and the caller's own
	Call     string           // the digest of a contact that it makes
	Approved *parley.Approval // it is made now because this was approved
	Work     TaskDetails      // what more is said of a task it makes
}

// Hops is how long the chain of automatic messages is that a call of this origin makes longer.
func (o Origin) Hops() int {
	switch {
	case o.Run != nil:
		return o.Run.Hops
	case o.Approved != nil:
		return o.Approved.Hops
	default:
		return 0
	}
}

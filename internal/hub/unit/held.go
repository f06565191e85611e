package unit

import (
	"github.com/parley-hub/parley"
)

// HeldBy says that a call needs an approval first, and why. It ends the update of the call, so that nothing of it
// remains; then Hub.heldOr stores the call.
type HeldBy struct {
	Verdict parley.Verdict
	Target  string        // whom the call contacts, if it is one in particular
	Draft   *parley.Draft // of a post: where it goes by ids, which nobody changes while it waits
}

func (HeldBy) Error() string { return parley.HeldText }

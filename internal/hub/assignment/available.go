package assignment

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// CheckAvailable returns why a participant cannot be contacted now in this way, or nil. People always can, and every participant takes a
// note.
func CheckAvailable(u *unit.Unit, target parley.Agent, how parley.Pattern) error {
	if how == parley.PatternNotify || target.Kind != parley.KindAgent {
		return nil
	}
	status, _ := presence.Status(u, target, 0, parley.Awaiting{})
	offline := status.Status == parley.StatusOffline
	switch {
	case how == parley.PatternDelegate && offline && status.Reason == parley.ReasonStopped:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot take work. Use 'notify' to leave a message.", target.Name)
	case how == parley.PatternDelegate:
		return nil
	case offline:
		return parley.Errorf(parley.Unavailable, "%s is offline and cannot be asked. Use 'notify' to leave a message.", target.Name)
	case target.Paused.Holds(u.Now):
		return parley.Errorf(parley.Unavailable, "%s is paused and cannot be asked. Use 'delegate' to have it work on this later.", target.Name)
	}
	over, err := presence.FindExcesses(u, target)
	if err != nil || len(over) == 0 {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%s is over budget (%s) and cannot be asked. Use 'delegate' to have it work on this later.",
		target.Name, over[0].Says)
}

// ErrTooManyHops marks the refusal of a contact at the end of too long a chain. The hub tells a person about it.
var ErrTooManyHops = errors.New("too many hops")

// CheckHops refuses a contact at the end of too long a chain of automatic messages.
func CheckHops(u *unit.Unit, o unit.Origin) error {
	hops, most := o.Hops()+1, u.Core.Config.Loops.Hops
	if u.Me.Kind != parley.KindAgent || hops <= most {
		return nil
	}
	return parley.Errorf(parley.DependencyFailed, "%d automatic messages in a row have led to this, and nobody is contacted after more than %d", hops, most).
		From(ErrTooManyHops).Suggest("let a person go on with it")
}

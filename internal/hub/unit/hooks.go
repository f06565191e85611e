package unit

import (
	"context"

	"github.com/parley-hub/parley"
)

// Hooks are the rules by which subjects take part in every use case, and the consequences of a change for subjects that the
// changing code does not know. New lists them all. They run in the order of their list.
type Hooks struct {
	// Before a use case: whether the credential allows it, whether the caller's rate does, what it counts as while it runs, and
	// whether the hub is ready to change anything.
	Admit     func(Caller, Op) error
	Limit     func(context.Context, Caller) error
	Count     func(context.Context, Caller, Op) (Underway, error)
	Recovered func(context.Context) error

	// heard notes that a participant has called.
	Heard func(*Unit, Caller)

	// refused notes that a use case was refused. hint says what could have been meant by an unknown name.
	Refused func(Caller, error)
	Hint    func(*Unit, Caller, Unknown) (string, error)

	// Within the update: after each step of a delivery; after a delivery has ended in a failure that its sender is told of; before
	// the update ends.
	DeliveryMoved  []func(u *Unit, before, after parley.Delivery) error
	DeliveryFailed []func(u *Unit, d parley.Delivery, cause *parley.Error) error
	BeforeCommit   []func(*Unit) error

	AfterCommit []func(*Changes)

	// tools are the tools whose calls may need an approval.
	Calls map[string]ApprovableCall
}

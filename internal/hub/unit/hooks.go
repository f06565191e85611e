package unit

import (
	"context"

	"github.com/parley-hub/parley"
)

// Hooks connect the packages of the hub with every use case, so that the changing code need not know what follows its
// change. hub.New sets all of them. The functions of a list run in its order.
type Hooks struct {
	// Before a use case: Admit checks the credential, Limit checks the caller's rate, Count counts the call while it runs, and
	// Recovered makes sure that the hub is ready to change anything.
	Admit     func(Caller, Op) error
	Limit     func(context.Context, Caller) error
	Count     func(context.Context, Caller, Op) (Underway, error)
	Recovered func(context.Context) error

	// Heard notes that a participant called.
	Heard func(*Unit, Caller)

	// Refused notes that the hub refused a use case. Hint suggests what an unknown name may have meant.
	Refused func(Caller, error)
	Hint    func(*Unit, Caller, Unknown) (string, error)

	// Within the update: DeliveryMoved runs after each step of a delivery, DeliveryFailed after a delivery ended in a failure
	// that its sender is told of, and BeforeCommit before the update ends.
	DeliveryMoved  []func(u *Unit, before, after parley.Delivery) error
	DeliveryFailed []func(u *Unit, d parley.Delivery, cause *parley.Error) error
	BeforeCommit   []func(*Unit) error

	AfterCommit []func(*Changes)

	// Calls are the tools whose calls may need an approval.
	Calls map[string]ApprovableCall
}

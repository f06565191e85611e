package outcomes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// AwaitState waits until all waking deliveries of a message, or all deliveries if none wakes, have ended or reached a state:
// delivered, seen or answered. Then it shows the message. If the time is up, it shows the message as it is. A run or an agent's
// session that waits for an answer is blocked meanwhile; AwaitState returns E005 if that would form a cycle.
func (s *Service) AwaitState(ctx context.Context, caller unit.Caller, message string, state parley.DeliveryState, wait time.Duration) (parley.Shown, error) {
	states := []parley.DeliveryState{parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAnswered}
	if !slices.Contains(states, state) {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "%q is not a state to wait for", state).
			Suggest("wait for delivered, seen or answered")
	}
	if wait < 0 {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait 0s or longer")
	}
	if err := s.names.FindID(ctx, caller, unit.OpShowMessage, parley.NounMessage, &message); err != nil {
		return parley.Shown{}, err
	}
	shown, err := s.reading.Message(ctx, caller, message)
	if err != nil || wait == 0 || allReached(shown.Deliveries, state) {
		return shown, err
	}
	if state == parley.DeliveryAnswered {
		release, err := contact.BlockCaller(ctx, s.Core, caller, unit.OpShowMessage, wait, func(u *unit.Unit) ([]parley.Wait, error) { return contact.WaitsForAnswers(u, shown.ID) })
		if err != nil {
			return shown, err
		}
		defer release()
	}
	err = s.Await(ctx, shown.ID, wait, func() (bool, error) {
		var err error
		shown, err = s.reading.Message(ctx, caller, message)
		return err == nil && allReached(shown.Deliveries, state), err
	})
	switch {
	case errors.Is(err, unit.ErrWaited):
		return shown, nil
	case err != nil && errors.Is(err, ctx.Err()):
		return shown, s.Explain(ctx, caller, err)
	default:
		return shown, err
	}
}

func allReached(list []parley.Delivery, state parley.DeliveryState) bool {
	return len(contact.NotReached(list, state)) == 0
}

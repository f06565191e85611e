package feed

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Sent is called after events were sent to a client of the subscriber. It marks the posted messages as delivered to the
// subscriber if that is a person. An agent takes its deliveries itself.
func (s *Subscription) Sent(ctx context.Context, list []parley.Event) error {
	if !s.person {
		return nil
	}
	var posted []string
	for _, e := range list {
		if e.Kind == parley.EventMessagePosted && e.By != s.agent {
			posted = append(posted, e.Message)
		}
	}
	if len(posted) == 0 {
		return nil
	}
	waits := false // first only read: most messages that an owner sees are not for the owner
	err := s.hub.View(ctx, s.caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		return eachAccepted(u, posted, func(*parley.Delivery) error {
			waits = true
			return nil
		})
	})
	if err != nil || !waits {
		return err
	}
	return s.hub.Write(ctx, s.caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		return eachAccepted(u, posted, func(d *parley.Delivery) error { return deliveries.Move(u, d, parley.DeliveryDelivered, nil) })
	})
}

// eachAccepted calls do for the caller's deliveries of messages that are still accepted.
func eachAccepted(u *unit.Unit, messages []string, do func(*parley.Delivery) error) error {
	list, err := u.Deliveries().GetAll(u.Me.ID, messages)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryAccepted {
			err = do(&list[i])
		}
	}
	return err
}

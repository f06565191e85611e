package feed

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Sent says that events were sent to a client of the subscriber. What was posted for a person is delivered
// with that; an agent takes what is for it.
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
	waits := false // mostly nothing of what an owner sees is for it: then nothing is written
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

// eachAccepted calls do with those deliveries of messages to the caller that nobody has fetched yet.
func eachAccepted(u *unit.Unit, messages []string, do func(*parley.Delivery) error) error {
	list, err := u.Deliveries().GetAll(u.Me.ID, messages)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryAccepted {
			err = do(&list[i])
		}
	}
	return err
}

package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Ack acknowledges deliveries of the caller: the caller has done what the messages ask for, or knows what they say. With a
// lease, it acknowledges only deliveries that the lease still holds. A repeated call changes nothing.
func (s *Service) Ack(ctx context.Context, caller unit.Caller, lease string, messages ...string) (list []parley.Delivery, err error) {
	if messages, err = s.names.FindMessages(ctx, caller, unit.OpAck, messages); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpAck, func(u *unit.Unit) error {
		var settled []parley.Delivery
		list, err = deliveries.Each(u, lease, messages, func(d *parley.Delivery) error {
			if d.State == parley.DeliveryAcked || d.State == parley.DeliveryAnswered {
				return nil
			}
			err := deliveries.SetState(u, d, parley.DeliveryAcked, nil)
			settled = append(settled, *d)
			return err
		})
		if err == nil && u.Me.Kind == parley.KindHuman {
			err = work.ArchiveAcked(u, settled)
		}
		return err
	})
	return list, err
}

// Nack gives back deliveries that the caller has taken. The hub retries a delivery whose failure is temporary, until its
// recipient has no attempts left. A delivery whose failure is final fails.
func (s *Service) Nack(ctx context.Context, caller unit.Caller, lease string, trouble parley.Trouble, messages ...string) (list []parley.Delivery, err error) {
	if trouble, err = deliveries.CheckTrouble(trouble); err != nil {
		return nil, err
	}
	if messages, err = s.names.FindMessages(ctx, caller, unit.OpNack, messages); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpNack, func(u *unit.Unit) error {
		list, err = deliveries.Each(u, lease, messages, func(d *parley.Delivery) error {
			switch {
			case d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen:
				return deliveries.StateError(*d, parley.DeliveryAccepted)
			case d.Lease == "" || d.Lease != lease:
				return deliveries.NotLeasedError(*d)
			}
			return work.RetryOrEnd(u, d, trouble.Failure, deliveries.Failed(d.Recipient, trouble), trouble.After)
		})
		return err
	})
	return list, err
}

// Extend makes a lease last for length from now (0: 60 s), and returns the deliveries that it still holds.
func (s *Service) Extend(ctx context.Context, caller unit.Caller, lease string, length time.Duration) (list []parley.Delivery, err error) {
	if unit.SetDefault(&length, deliveries.DefaultLease); length < time.Second || length > deliveries.MaxLease {
		return nil, parley.Errorf(parley.BadInput, "the lease is %s", length).Suggest("ask for 1s to %s", deliveries.MaxLease)
	}
	err = s.Update(ctx, caller, unit.OpExtend, func(u *unit.Unit) error {
		if list, err = deliveries.Leased(u, lease); err != nil {
			return err
		}
		return deliveries.Extend(u, list, length)
	})
	return list, err
}

// See marks the deliveries of a lease as seen: a turn that has them in its context has started.
func (s *Service) See(ctx context.Context, caller unit.Caller, lease, run string) (list []parley.Delivery, err error) {
	if err := parley.CheckRun(run); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpSee, func(u *unit.Unit) error {
		if list, err = deliveries.Leased(u, lease); err != nil {
			return err
		}
		for i := range list {
			if list[i].State == parley.DeliverySeen {
				continue
			}
			if err := deliveries.SetState(u, &list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = run }); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// Settle ends a lease. Its remaining deliveries are answered, acknowledged or given back.
func (s *Service) Settle(ctx context.Context, caller unit.Caller, lease string, outcome parley.Outcome) (list []parley.Delivery, err error) {
	if outcome, err = CheckOutcome(ctx, s, caller, outcome); err != nil {
		return nil, err
	}
	err = s.Update(ctx, caller, unit.OpSettle, func(u *unit.Unit) error {
		if err := CheckAnswer(u, outcome); err != nil {
			return err
		}
		if list, err = deliveries.Leased(u, lease); err != nil {
			return err
		}
		for i := range list {
			if err := work.Settle(u, &list[i], outcome); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// CheckOutcome returns an outcome with its defaults and the whole id of its answer.
func CheckOutcome(ctx context.Context, s *Service, caller unit.Caller, outcome parley.Outcome) (parley.Outcome, error) {
	if outcome.Trouble != nil {
		trouble, err := deliveries.CheckTrouble(*outcome.Trouble)
		if err != nil {
			return outcome, err
		}
		outcome.Trouble = &trouble
	}
	return outcome, s.names.FindID(ctx, caller, unit.OpSettle, parley.NounMessage, &outcome.Answer)
}

// CheckAnswer returns E003 if the answer of an outcome is not a message of the caller.
func CheckAnswer(u *unit.Unit, outcome parley.Outcome) error {
	if outcome.Answer == "" {
		return nil
	}
	m, _, err := conversations.Message(u, outcome.Answer)
	if err == nil && m.From != u.Me.ID {
		err = parley.Errorf(parley.BadInput, "message %s is not from %s", m.ShortName(), u.Me.ID).Suggest("name an answer that this participant sent")
	}
	return err
}

// SeeContext marks deliveries that wake nobody as seen, if their messages were in the context with which the caller's turn has
// started.
func (s *Service) SeeContext(ctx context.Context, caller unit.Caller, included []parley.Message, run string) error {
	if err := parley.CheckRun(run); err != nil || len(included) == 0 {
		return err
	}
	first, last := included[0], included[len(included)-1]
	return s.Update(ctx, caller, unit.OpSee, func(u *unit.Unit) error {
		list, err := u.Deliveries().Between(first.Conversation, u.Me.ID, first.Seq-1, last.Seq, len(included))
		if errors.Is(err, parley.ErrNotFound) {
			return nil // the conversation was deleted in the meantime, and its deliveries with it
		}
		for i := range list {
			if err == nil && list[i].Ready() && !list[i].Waking {
				err = deliveries.SetState(u, &list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = run })
			}
		}
		return err
	})
}

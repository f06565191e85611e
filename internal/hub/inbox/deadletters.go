package inbox

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// DeadLetters lists deliveries that have no attempts left, in the order of their seq, after one seq. Only an owner may call it.
func (s *Service) DeadLetters(ctx context.Context, caller unit.Caller, after int64, limit int) (list []parley.Delivery, err error) {
	err = s.View(ctx, caller, unit.OpListDead, func(u *unit.Unit) error {
		list, err = u.Queue().Dead(after, unit.Clamp(limit, 50, 1000))
		return err
	})
	return list, err
}

// RetryDead puts a dead letter back into its recipient's inbox and gives it all its attempts again. Only an owner may call it.
func (s *Service) RetryDead(ctx context.Context, caller unit.Caller, message, recipient string) (parley.Delivery, error) {
	return s.changeDead(ctx, caller, unit.OpRetryDead, message, recipient, "delivery.retry", func(u *unit.Unit, d *parley.Delivery) error {
		if _, err := agents.Agent(u, d.Recipient); err != nil {
			return err
		}
		if err := assignment.ReviveTask(u, *d); err != nil {
			return err
		}
		return deliveries.SetState(u, d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Attempt = 0 })
	})
}

// DropDead drops a dead letter. The hub tells its sender. Only an owner may call it.
func (s *Service) DropDead(ctx context.Context, caller unit.Caller, message, recipient string) (parley.Delivery, error) {
	return s.changeDead(ctx, caller, unit.OpDropDead, message, recipient, "delivery.drop", func(u *unit.Unit, d *parley.Delivery) error {
		return deliveries.End(u, d, parley.DeliveryDropped, parley.Errorf(parley.Unavailable, "%s dropped this message for %s", u.Me.ID, d.Recipient).
			Suggest("send it again, or write to another participant"))
	})
}

func (s *Service) changeDead(ctx context.Context, caller unit.Caller, do unit.Op, message, recipient, act string, change func(*unit.Unit, *parley.Delivery) error) (d parley.Delivery, err error) {
	if err := s.names.FindID(ctx, caller, do, parley.NounMessage, &message); err != nil {
		return d, err
	}
	err = s.Update(ctx, caller, do, func(u *unit.Unit) error {
		if d, err = findDeadLetter(u, message, recipient); err != nil {
			return err
		}
		if err := change(u, &d); err != nil {
			return err
		}
		return access.Audit(u, act, d.Message, map[string]any{"recipient": d.Recipient})
	})
	return d, err
}

// findDeadLetter finds a dead letter. If the message is a dead letter for one recipient only, the recipient may be empty. It
// returns E003 if there is none, or if there are several and the recipient is empty.
func findDeadLetter(u *unit.Unit, message, recipient string) (parley.Delivery, error) {
	m, _, err := conversations.Message(u, message)
	if err != nil {
		return parley.Delivery{}, err
	}
	list, err := u.Deliveries().OfMessage(m.ID)
	if err != nil {
		return parley.Delivery{}, err
	}
	if recipient != "" {
		a, err := agents.FindAgent(u, recipient)
		if err != nil {
			return parley.Delivery{}, unit.Unknown{Noun: "agent", Name: recipient}
		}
		recipient = a.ID
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return d.State != parley.DeliveryDead || recipient != "" && d.Recipient != recipient
	})
	switch len(list) {
	case 0:
		return parley.Delivery{}, parley.Errorf(parley.BadInput, "message %s is not a dead letter", m.ShortName()).
			Because(parley.Conflict).Suggest("list dead letters: parley dead list")
	case 1:
		return u.Deliveries().Get(m.ID, list[0].Recipient)
	default:
		return parley.Delivery{}, parley.Errorf(parley.BadInput, "message %s is a dead letter for %d recipients", m.ShortName(), len(list)).
			Suggest("name the recipient")
	}
}

package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Peek shows what is open for the caller, oldest first: what waits, what somebody has taken, and what
// pauses before another try.
func (s *Service) Peek(ctx context.Context, caller unit.Caller, limit int) (parley.Peeked, error) {
	return s.PeekAfter(ctx, caller, 0, limit)
}

// PeekAfter is Peek of what is after a seq. Where messages are large it shows fewer than asked for.
func (s *Service) PeekAfter(ctx context.Context, caller unit.Caller, after int64, limit int) (p parley.Peeked, err error) {
	defer s.Read(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MostTaken)
	err = s.View(ctx, caller, unit.OpPeekInbox, func(u *unit.Unit) error {
		if p.Inbox, err = u.Queue().Inbox(u.Me.ID); err != nil {
			return err
		}
		p.Deliveries, err = openOf(u, after, limit)
		return err
	})
	if err == nil {
		p.Deliveries, p.Messages, err = bodies(ctx, s.Core, caller, unit.OpPeekInbox, p.Deliveries)
	}
	return p, err
}

// PeekNewest shows what is in the caller's inbox before a seq (0: from the newest), the newest message first. Beside what is
// open it has what the caller has seen and must still act on. More says how much there is before the last one shown.
func (s *Service) PeekNewest(ctx context.Context, caller unit.Caller, before int64, limit int) (p parley.Peeked, err error) {
	defer s.Read(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MostTaken)
	err = s.View(ctx, caller, unit.OpPeekInbox, func(u *unit.Unit) error {
		if p.Inbox, err = u.Queue().Inbox(u.Me.ID); err != nil {
			return err
		}
		if p.Deliveries, err = newest(u, before); err != nil {
			return err
		}
		all := len(p.Deliveries)
		if p.Deliveries, err = fitting(u, p.Deliveries[:min(limit, all)]); err != nil {
			return err
		}
		if p.More = all - len(p.Deliveries); all == work.MostWanted && before == 0 {
			p.More = max(p.More, p.Waking+p.Quiet+p.Work-len(p.Deliveries))
		}
		return nil
	})
	if err == nil {
		p.Deliveries, p.Messages, err = bodies(ctx, s.Core, caller, unit.OpPeekInbox, p.Deliveries)
	}
	return p, err
}

// newest are the newest deliveries in the caller's inbox. A task or an approval that has ended wants nothing any more.
func newest(u *unit.Unit, before int64) ([]parley.Delivery, error) {
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: u.Me.ID, Before: before, Limit: work.MostWanted})
	kept := list[:0]
	for _, d := range list {
		wanted := true
		if err == nil && d.State == parley.DeliverySeen && d.Lease == "" {
			wanted, err = stillWants(u, d)
		}
		if err != nil {
			return nil, err
		}
		if wanted {
			kept = append(kept, d)
		}
	}
	return kept, err
}

// stillWants is wants for a delivery whose message is not read yet.
func stillWants(u *unit.Unit, d parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	return work.Wants(u, d, m)
}

// openOf is the caller's open deliveries by seq, after one.
func openOf(u *unit.Unit, after int64, limit int) ([]parley.Delivery, error) {
	list, err := u.Queue().Held(u.Me.ID, after, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil {
			return nil, err
		}
		var more []parley.Delivery
		more, err = u.Queue().Ready(storage.Queue{Recipient: u.Me.ID, Wakes: wakes, After: after, Limit: limit})
		list = append(list, more...)
	}
	slices.SortFunc(list, deliveries.BySeq)
	if err != nil {
		return nil, err
	}
	return fitting(u, list[:min(limit, len(list))])
}

// DeadLetters lists deliveries that are out of attempts, by seq, after one. Only an owner may.
func (s *Service) DeadLetters(ctx context.Context, caller unit.Caller, after int64, limit int) (list []parley.Delivery, err error) {
	err = s.View(ctx, caller, unit.OpListDead, func(u *unit.Unit) error {
		list, err = u.Queue().Dead(after, unit.Clamp(limit, 50, 1000))
		return err
	})
	return list, err
}

// RetryDead puts a dead letter back into its recipient's inbox, with all its attempts. Only an owner
// may.
func (s *Service) RetryDead(ctx context.Context, caller unit.Caller, message, recipient string) (parley.Delivery, error) {
	return s.changeDead(ctx, caller, unit.OpRetryDead, message, recipient, "delivery.retry", func(u *unit.Unit, d *parley.Delivery) error {
		if _, err := agents.Agent(u, d.Recipient); err != nil {
			return err
		}
		if err := assignment.ReviveTask(u, *d); err != nil {
			return err
		}
		return deliveries.Move(u, d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Attempt = 0 })
	})
}

// DropDead gives a dead letter up. Its sender is told. Only an owner may.
func (s *Service) DropDead(ctx context.Context, caller unit.Caller, message, recipient string) (parley.Delivery, error) {
	return s.changeDead(ctx, caller, unit.OpDropDead, message, recipient, "delivery.drop", func(u *unit.Unit, d *parley.Delivery) error {
		return deliveries.End(u, d, parley.DeliveryDropped, parley.Errorf(parley.Unavailable, "%s gave up on this for %s", u.Me.ID, d.Recipient).
			Suggest("send it again, or write to somebody else"))
	})
}

func (s *Service) changeDead(ctx context.Context, caller unit.Caller, do unit.Op, message, recipient, act string, change func(*unit.Unit, *parley.Delivery) error) (d parley.Delivery, err error) {
	if err := s.names.FindID(ctx, caller, do, parley.NounMessage, &message); err != nil {
		return d, err
	}
	err = s.Update(ctx, caller, do, func(u *unit.Unit) error {
		if d, err = dead(u, message, recipient); err != nil {
			return err
		}
		if err := change(u, &d); err != nil {
			return err
		}
		return access.Audit(u, act, d.Message, map[string]any{"recipient": d.Recipient})
	})
	return d, err
}

// dead finds a dead letter. Its recipient may be left out where there is only one.
func dead(u *unit.Unit, message, recipient string) (parley.Delivery, error) {
	m, _, err := conversations.Message(u, message)
	if err != nil {
		return parley.Delivery{}, err
	}
	list, err := u.Deliveries().Of(m.ID)
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
		return parley.Delivery{}, parley.Errorf(parley.BadInput, "message %s is no dead letter", m.ShortName()).
			Because(parley.Conflict).Suggest("see the list of dead letters")
	case 1:
		return u.Deliveries().Get(m.ID, list[0].Recipient)
	default:
		return parley.Delivery{}, parley.Errorf(parley.BadInput, "message %s is a dead letter for %d recipients", m.ShortName(), len(list)).
			Suggest("name the recipient")
	}
}

package hub

import (
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// Peek shows what is open for the caller, oldest first: what waits, what somebody has taken, and what
// pauses before another try.
func (h *Hub) Peek(ctx context.Context, caller Caller, limit int) (parley.Peeked, error) {
	return h.PeekAfter(ctx, caller, 0, limit)
}

// PeekAfter is Peek of what is after a seq. Where messages are large it shows fewer than asked for.
func (h *Hub) PeekAfter(ctx context.Context, caller Caller, after int64, limit int) (p parley.Peeked, err error) {
	defer h.read(time.Now(), &err)
	limit = clamp(limit, defaultTake, mostTaken)
	err = h.view(ctx, caller, opPeekInbox, func(s *scene) error {
		if p.Inbox, err = s.Queue().Inbox(s.me.ID); err != nil {
			return err
		}
		p.Deliveries, err = s.inbox(after, limit)
		return err
	})
	if err == nil {
		p.Deliveries, p.Messages, err = h.bodies(ctx, caller, opPeekInbox, p.Deliveries)
	}
	return p, err
}

// PeekNewest shows what is in the caller's inbox before a seq (0: from the newest), the newest message first. Beside what is
// open it has what the caller has seen and must still act on. More says how much there is before the last one shown.
func (h *Hub) PeekNewest(ctx context.Context, caller Caller, before int64, limit int) (p parley.Peeked, err error) {
	defer h.read(time.Now(), &err)
	limit = clamp(limit, defaultTake, mostTaken)
	err = h.view(ctx, caller, opPeekInbox, func(s *scene) error {
		if p.Inbox, err = s.Queue().Inbox(s.me.ID); err != nil {
			return err
		}
		if p.Deliveries, err = s.newest(before); err != nil {
			return err
		}
		all := len(p.Deliveries)
		if p.Deliveries, err = s.fitting(p.Deliveries[:min(limit, all)]); err != nil {
			return err
		}
		if p.More = all - len(p.Deliveries); all == mostWanted && before == 0 {
			p.More = max(p.More, p.Waking+p.Quiet+p.Work-len(p.Deliveries))
		}
		return nil
	})
	if err == nil {
		p.Deliveries, p.Messages, err = h.bodies(ctx, caller, opPeekInbox, p.Deliveries)
	}
	return p, err
}

// newest are the newest deliveries in the caller's inbox. A task or an approval that has ended wants nothing any more.
func (s *scene) newest(before int64) ([]parley.Delivery, error) {
	list, err := s.Queue().Newest(parley.InboxPage{Recipient: s.me.ID, Before: before, Limit: mostWanted})
	kept := list[:0]
	for _, d := range list {
		wanted := true
		if err == nil && d.State == parley.DeliverySeen && d.Lease == "" {
			wanted, err = s.stillWants(d)
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
func (s *scene) stillWants(d parley.Delivery) (bool, error) {
	m, err := s.Messages().Get(d.Message)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return s.wants(d, m)
}

// inbox is the caller's open deliveries by seq, after one.
func (s *scene) inbox(after int64, limit int) ([]parley.Delivery, error) {
	list, err := s.Queue().Held(s.me.ID, after, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil {
			return nil, err
		}
		var more []parley.Delivery
		more, err = s.Queue().Ready(parley.Queue{Recipient: s.me.ID, Wakes: wakes, After: after, Limit: limit})
		list = append(list, more...)
	}
	slices.SortFunc(list, bySeq)
	if err != nil {
		return nil, err
	}
	return s.fitting(list[:min(limit, len(list))])
}

// DeadLetters lists deliveries that are out of attempts, by seq, after one. Only an owner may.
func (h *Hub) DeadLetters(ctx context.Context, caller Caller, after int64, limit int) (list []parley.Delivery, err error) {
	err = h.view(ctx, caller, opListDead, func(s *scene) error {
		list, err = s.Queue().Dead(after, clamp(limit, 50, 1000))
		return err
	})
	return list, err
}

// RetryDead puts a dead letter back into its recipient's inbox, with all its attempts. Only an owner
// may.
func (h *Hub) RetryDead(ctx context.Context, caller Caller, message, recipient string) (parley.Delivery, error) {
	return h.changeDead(ctx, caller, opRetryDead, message, recipient, "delivery.retry", func(s *scene, d *parley.Delivery) error {
		if _, err := s.agent(d.Recipient); err != nil {
			return err
		}
		if err := s.reviveTask(*d); err != nil {
			return err
		}
		return s.move(d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Attempt = 0 })
	})
}

// DropDead gives a dead letter up. Its sender is told. Only an owner may.
func (h *Hub) DropDead(ctx context.Context, caller Caller, message, recipient string) (parley.Delivery, error) {
	return h.changeDead(ctx, caller, opDropDead, message, recipient, "delivery.drop", func(s *scene, d *parley.Delivery) error {
		return s.end(d, parley.DeliveryDropped, parley.Errorf(parley.Unavailable, "%s gave up on this for %s", s.me.ID, d.Recipient).
			Suggest("send it again, or write to somebody else"))
	})
}

func (h *Hub) changeDead(ctx context.Context, caller Caller, do op, message, recipient, act string, change func(*scene, *parley.Delivery) error) (d parley.Delivery, err error) {
	if err := h.findID(ctx, caller, do, parley.NounMessage, &message); err != nil {
		return d, err
	}
	err = h.update(ctx, caller, do, func(s *scene) error {
		if d, err = s.dead(message, recipient); err != nil {
			return err
		}
		if err := change(s, &d); err != nil {
			return err
		}
		return s.audit(act, d.Message, map[string]any{"recipient": d.Recipient})
	})
	return d, err
}

// dead finds a dead letter. Its recipient may be left out where there is only one.
func (s *scene) dead(message, recipient string) (parley.Delivery, error) {
	m, _, err := s.message(message)
	if err != nil {
		return parley.Delivery{}, err
	}
	list, err := s.Deliveries().Of(m.ID)
	if err != nil {
		return parley.Delivery{}, err
	}
	if recipient != "" {
		a, err := s.findAgent(recipient)
		if err != nil {
			return parley.Delivery{}, unknown{"agent", recipient}
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
		return s.Deliveries().Get(m.ID, list[0].Recipient)
	default:
		return parley.Delivery{}, parley.Errorf(parley.BadInput, "message %s is a dead letter for %d recipients", m.ShortName(), len(list)).
			Suggest("name the recipient")
	}
}

package hub

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Ack settles deliveries of the caller: it has done what they asked for, or knows what they say. With
// a lease, only what nobody else has meanwhile. Doing it again changes nothing.
func (h *Hub) Ack(ctx context.Context, caller Caller, lease string, messages ...string) (list []parley.Delivery, err error) {
	if messages, err = h.findMessages(ctx, caller, opAck, messages); err != nil {
		return nil, err
	}
	err = h.update(ctx, caller, opAck, func(s *scene) error {
		var settled []parley.Delivery
		list, err = s.each(lease, messages, func(d *parley.Delivery) error {
			if d.State == parley.DeliveryAcked || d.State == parley.DeliveryAnswered {
				return nil
			}
			err := s.move(d, parley.DeliveryAcked, nil)
			settled = append(settled, *d)
			return err
		})
		if err == nil && s.me.Kind == parley.KindHuman {
			err = s.archiveAcked(settled)
		}
		return err
	})
	return list, err
}

// archiveAcked archives the ephemeral conversations whose answers the caller has just acknowledged.
func (s *scene) archiveAcked(list []parley.Delivery) error {
	for _, d := range list {
		c, err := s.Conversations().Find(d.Conversation)
		if err == nil && c.Kind == parley.Ephemeral {
			var m parley.Message
			if m, err = s.Messages().Get(d.Message); err == nil && m.InReplyTo != "" {
				err = s.archiveAnswered(c)
			}
		}
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return err
		}
	}
	return nil
}

var troubles = map[parley.Failure]struct {
	code   parley.Code
	reason string
}{
	parley.FailureLost:    {parley.Unavailable, "whoever had it is gone"},
	parley.FailureBusy:    {parley.Unavailable, "it has too much to do"},
	parley.FailureServer:  {parley.DependencyFailed, "what it needs has failed"},
	parley.FailureNoStart: {parley.Unavailable, "it could not be started"},
	parley.FailureStopped: {parley.Unavailable, "it was stopped"},
	parley.FailureFinal:   {parley.DependencyFailed, "it failed"},
}

const (
	maxReason = 4 << 10
	maxAfter  = 24 * time.Hour
)

func checkTrouble(t parley.Trouble) (parley.Trouble, error) {
	setDefault(&t.Failure, parley.FailureFinal)
	switch {
	case !t.Failure.Known():
		return t, parley.Errorf(parley.BadInput, "unknown failure %q", t.Failure).Suggest("use lost, busy, server, nostart or final")
	case t.After < 0 || t.After > maxAfter:
		return t, parley.Errorf(parley.BadInput, "the next try is in %s", t.After).Suggest("say 0s to %s", maxAfter)
	}
	t.Reason = storable(t.Reason)
	return t, nil
}

// storable is a text from whatever has failed, without what cannot be stored of it.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxReason)], "\x00", ""), "")
}

func failed(recipient string, t parley.Trouble) *parley.Error {
	kind := troubles[t.Failure]
	reason := kind.reason
	if t.Reason != "" {
		reason = t.Reason
	}
	return parley.Errorf(kind.code, "%s%s%s", recipient, didNot, reason)
}

// didNot stands between whoever has failed and why.
const didNot = " did not do this: "

// Nack gives deliveries back that the caller has taken. What may succeed at another time is tried
// again, as often as its recipient's attempts allow; what cannot has failed.
func (h *Hub) Nack(ctx context.Context, caller Caller, lease string, why parley.Trouble, messages ...string) (list []parley.Delivery, err error) {
	if why, err = checkTrouble(why); err != nil {
		return nil, err
	}
	if messages, err = h.findMessages(ctx, caller, opNack, messages); err != nil {
		return nil, err
	}
	err = h.update(ctx, caller, opNack, func(s *scene) error {
		list, err = s.each(lease, messages, func(d *parley.Delivery) error {
			switch {
			case d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen:
				return wrongStep(*d, parley.DeliveryAccepted)
			case d.Lease == "" || d.Lease != lease:
				return notHeld(*d)
			}
			return s.giveBack(d, why.Failure, failed(d.Recipient, why), why.After)
		})
		return err
	})
	return list, err
}

// notHeld keeps what one consumer has from being given back by another. People hold nothing: what they
// have fetched is theirs.
func notHeld(d parley.Delivery) error {
	return parley.Errorf(parley.BadInput, "message %s is not held by the lease given", d.ShortName()).Because(parley.Conflict).
		Suggest("give back what was taken, with its lease")
}

// each does something to the caller's deliveries of some messages.
func (s *scene) each(lease string, messages []string, do func(*parley.Delivery) error) (list []parley.Delivery, err error) {
	if len(messages) == 0 || len(messages) > mostTaken {
		return nil, parley.Errorf(parley.BadInput, "%d messages are named", len(messages)).Suggest("name 1 to %d", mostTaken)
	}
	if list, err = s.mine(messages); err != nil {
		return nil, err
	}
	for i := range list {
		if held := list[i].Lease; lease != "" && held != "" && held != lease {
			return nil, leaseOver(lease)
		}
		if err := do(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mine are the caller's deliveries of some messages, by seq.
func (s *scene) mine(messages []string) ([]parley.Delivery, error) {
	list, err := s.Deliveries().GetAll(s.me.ID, messages)
	if err != nil {
		return nil, err
	}
	for _, id := range messages {
		if !slices.ContainsFunc(list, func(d parley.Delivery) bool { return strings.EqualFold(d.Message, id) }) {
			return nil, unknown{"message", id}
		}
	}
	return list, nil
}

func leaseOver(lease string) error {
	return parley.Errorf(parley.BadInput, "the lease %s is over", lease).Because(parley.Conflict).
		Suggest("take again: what it held is back in the inbox, or with somebody else")
}

// leased are the caller's deliveries of one lease. E003 if there are none any more.
func (s *scene) leased(lease string) ([]parley.Delivery, error) {
	list, err := s.Queue().Leased(lease)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.Recipient != s.me.ID })
	if len(list) == 0 {
		return nil, leaseOver(lease)
	}
	return list, nil
}

// Extend makes a lease last from now on for a while (0: 60 s), and says what it still holds.
func (h *Hub) Extend(ctx context.Context, caller Caller, lease string, length time.Duration) (list []parley.Delivery, err error) {
	if setDefault(&length, defaultLease); length < time.Second || length > longestLease {
		return nil, parley.Errorf(parley.BadInput, "the lease is %s", length).Suggest("ask for 1s to %s", longestLease)
	}
	err = h.update(ctx, caller, opExtend, func(s *scene) error {
		if list, err = s.leased(lease); err != nil {
			return err
		}
		return s.extend(list, length)
	})
	return list, err
}

// extend makes the lease of deliveries last from now on for a while.
func (s *scene) extend(list []parley.Delivery, length time.Duration) error {
	now, err := s.Queue().Now()
	for i := range list {
		after := list[i]
		after.Until = now.After(length)
		if err == nil {
			err = s.keep(&list[i], after)
		}
	}
	return err
}

// See says that the turn which has what a lease holds in its context has started.
func (h *Hub) See(ctx context.Context, caller Caller, lease, run string) (list []parley.Delivery, err error) {
	if err := parley.CheckRun(run); err != nil {
		return nil, err
	}
	err = h.update(ctx, caller, opSee, func(s *scene) error {
		if list, err = s.leased(lease); err != nil {
			return err
		}
		for i := range list {
			if list[i].State == parley.DeliverySeen {
				continue
			}
			if err := s.move(&list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = run }); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// Settle ends a lease, and with it everything that it still holds: answered, acknowledged, or given back.
func (h *Hub) Settle(ctx context.Context, caller Caller, lease string, how parley.Outcome) (list []parley.Delivery, err error) {
	if how.Trouble != nil {
		why, err := checkTrouble(*how.Trouble)
		if err != nil {
			return nil, err
		}
		how.Trouble = &why
	}
	if err := h.findID(ctx, caller, opSettle, parley.NounMessage, &how.Answer); err != nil {
		return nil, err
	}
	err = h.update(ctx, caller, opSettle, func(s *scene) error {
		if how.Answer != "" {
			if m, _, err := s.message(how.Answer); err != nil {
				return err
			} else if m.From != s.me.ID {
				return parley.Errorf(parley.BadInput, "message %s is not from %s", m.ShortName(), s.me.ID).Suggest("name the answer it has sent")
			}
		}
		if list, err = s.leased(lease); err != nil {
			return err
		}
		for i := range list {
			if err := s.settle(&list[i], how); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func (s *scene) settle(d *parley.Delivery, how parley.Outcome) error {
	switch {
	case how.Trouble != nil:
		return s.giveBack(d, how.Trouble.Failure, failed(d.Recipient, *how.Trouble), how.Trouble.After)
	case how.Answer == "":
		return s.move(d, parley.DeliveryAcked, nil)
	}
	if waits, err := s.postpones(*d, nil); err != nil || waits {
		return errors.Join(err, s.move(d, parley.DeliveryAcked, nil))
	}
	return s.move(d, parley.DeliveryAnswered, func(d *parley.Delivery) { d.Answer = how.Answer })
}

// answer marks what a message answers: its sender's delivery of the message it replies to. The run is the one that ends
// with it, if one does.
func (s *scene) answer(parent *parley.Message, m parley.Message, run *parley.Run) error {
	if parent == nil || parent.From == m.From {
		return nil
	}
	d, err := s.Deliveries().Get(parent.ID, m.From)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if waits, err := s.postpones(d, run); err != nil || waits {
		return err
	}
	return s.markAnswered(&d, m.ID)
}

// markAnswered marks a delivery as answered by a message, unless it has ended otherwise.
func (s *scene) markAnswered(d *parley.Delivery, answer string) error {
	if !d.Answerable() {
		return nil // it has ended otherwise, or is answered
	}
	return s.move(d, parley.DeliveryAnswered, func(d *parley.Delivery) { d.Answer = answer })
}

// SeeContext marks what wakes nobody as seen, where a context that the caller's turn has started with
// includes it.
func (h *Hub) SeeContext(ctx context.Context, caller Caller, included []parley.Message, run string) error {
	if err := parley.CheckRun(run); err != nil || len(included) == 0 {
		return err
	}
	first, last := included[0], included[len(included)-1]
	return h.update(ctx, caller, opSee, func(s *scene) error {
		list, err := s.Deliveries().Between(first.Conversation, s.me.ID, first.Seq-1, last.Seq, len(included))
		if errors.Is(err, parley.ErrNotFound) {
			return nil // the conversation was deleted meanwhile, and its deliveries with it
		}
		for i := range list {
			if err == nil && list[i].Ready() && !list[i].Waking {
				err = s.move(&list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = run })
			}
		}
		return err
	})
}

package work

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ArchiveAcked archives the ephemeral conversations whose answers the caller has just acknowledged.
func ArchiveAcked(u *unit.Unit, list []parley.Delivery) error {
	for _, d := range list {
		c, err := u.Conversations().Find(d.Conversation)
		if err == nil && c.Kind == parley.Ephemeral {
			var m parley.Message
			if m, err = u.Messages().Get(d.Message); err == nil && m.InReplyTo != "" {
				err = ArchiveAnswered(u, c)
			}
		}
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Settle ends a delivery with the outcome that its recipient reports: an answer, an ack, or trouble.
func Settle(u *unit.Unit, d *parley.Delivery, outcome parley.Outcome) error {
	switch {
	case outcome.Trouble != nil:
		return RetryOrEnd(u, d, outcome.Trouble.Failure, deliveries.Failed(d.Recipient, *outcome.Trouble), outcome.Trouble.After)
	case outcome.Answer == "":
		return deliveries.SetState(u, d, parley.DeliveryAcked, nil)
	}
	if waits, err := isNoAnswer(u, *d, nil); err != nil || waits {
		return errors.Join(err, deliveries.SetState(u, d, parley.DeliveryAcked, nil))
	}
	return deliveries.SetState(u, d, parley.DeliveryAnswered, func(d *parley.Delivery) { d.Answer = outcome.Answer })
}

// Answer marks the delivery of the message that m replies to as answered. run is the run that ends with m, or nil.
func Answer(u *unit.Unit, parent *parley.Message, m parley.Message, run *parley.Run) error {
	if parent == nil || parent.From == m.From {
		return nil
	}
	d, err := u.Deliveries().Get(parent.ID, m.From)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if waits, err := isNoAnswer(u, d, run); err != nil || waits {
		return err
	}
	return markAnswered(u, &d, m.ID)
}

// markAnswered marks a delivery as answered by a message, unless it has ended in another way.
func markAnswered(u *unit.Unit, d *parley.Delivery, answer string) error {
	if !d.Answerable() {
		return nil // it has ended in another way, or is answered already
	}
	return deliveries.SetState(u, d, parley.DeliveryAnswered, func(d *parley.Delivery) { d.Answer = answer })
}

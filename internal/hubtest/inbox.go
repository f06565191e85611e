package hubtest

import (
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// TakeAs takes the deliveries in the inbox of an agent.
func (f *Fixture) TakeAs(agent string, t parley.Take) parley.Taken {
	f.T.Helper()
	taken, err := f.Take(ctx, As(agent), t)
	f.NoError(err)
	return taken
}

// TakeTexts takes the deliveries as TakeAs does, and returns the texts of the messages.
func (f *Fixture) TakeTexts(agent string, t parley.Take) []string {
	f.T.Helper()
	return TextsOf(f.TakeAs(agent, t).Messages)
}

// AckAs acknowledges messages for an agent, without a lease.
func (f *Fixture) AckAs(agent string, messages ...string) {
	f.T.Helper()
	_, err := f.Ack(ctx, As(agent), "", messages...)
	f.NoError(err)
}

// NackTaken gives back all taken deliveries with a failure.
func (f *Fixture) NackTaken(agent string, taken parley.Taken, failure parley.Failure) {
	f.T.Helper()
	var messages []string
	for _, d := range taken.Deliveries {
		messages = append(messages, d.Message)
	}
	_, err := f.Nack(ctx, As(agent), taken.Lease, parley.Trouble{Failure: failure}, messages...)
	f.NoError(err)
}

// InboxOf returns the totals of an inbox.
func (f *Fixture) InboxOf(agent string) parley.Inbox {
	f.T.Helper()
	return Result[parley.Peeked](f)(f.Peek(ctx, As(agent), 1)).Inbox
}

// PendingTexts returns the texts of the messages that an agent can take or holds.
func (f *Fixture) PendingTexts(agent string) []string {
	f.T.Helper()
	return TextsOf(Result[parley.Peeked](f)(f.Peek(ctx, As(agent), 500)).Messages)
}

// SweepDueDeliveries makes the hub handle all due deliveries.
func (f *Fixture) SweepDueDeliveries() {
	f.T.Helper()
	f.NoError(f.SweepDeliveries(ctx))
}

// AdvanceLeases advances the lease clock, and makes the hub handle the deliveries that are then due.
func (f *Fixture) AdvanceLeases(d time.Duration) {
	f.T.Helper()
	f.Leases.Advance(d)
	f.SweepDueDeliveries()
}

// DeliveryOf returns the stored delivery of a message to one recipient.
func (f *Fixture) DeliveryOf(message, recipient string) (d parley.Delivery) {
	f.T.Helper()
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		d, err = tx.Deliveries().Get(message, recipient)
		return err
	}))
	return d
}

// DeliveriesOf returns all stored deliveries of a message.
func (f *Fixture) DeliveriesOf(message string) (list []parley.Delivery) {
	f.T.Helper()
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Deliveries().OfMessage(message)
		return err
	}))
	return list
}

// DeliveryState returns the state of the delivery of a message to one recipient.
func (f *Fixture) DeliveryState(message, recipient string) parley.DeliveryState {
	f.T.Helper()
	return f.DeliveryOf(message, recipient).State
}

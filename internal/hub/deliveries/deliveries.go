// Package deliveries holds the rows of deliveries, each step of their state, and the event of each step.
//
// The states of a delivery and the steps between them are a table in the root package. Move is the only function that changes a
// state: it asks that table, stores the row and notes the event.
package deliveries

import (
	"encoding/json"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRows stores the deliveries of a message.
func InsertRows(tx storage.Tx, m parley.Message, to []parley.NewDelivery) ([]parley.Delivery, error) {
	return tx.Deliveries().Insert(m, to)
}

// CountRow sets the number of the last message from a sender to a recipient, for a message without a delivery.
func CountRow(tx storage.Tx, from, to string, n int64) error {
	return tx.Deliveries().SetPairSeq(from, to, n)
}

// SetState takes a delivery to another state, through every state on the way, and notes the event. No other function changes the
// state of a delivery. edit sets other fields with the state.
func SetState(u *unit.Unit, d *parley.Delivery, to parley.DeliveryState, edit func(*parley.Delivery)) error {
	after := *d
	for _, next := range d.State.Path(to) {
		if !after.State.May(next) {
			return StateError(*d, to)
		}
		after.State = next
		stamp(&after, u.Now)
	}
	if edit != nil {
		edit(&after)
	}
	before := *d
	if err := Save(u, d, after); err != nil {
		return err
	}
	if after.Ready() {
		u.Wake(after.Recipient)
	}
	if err := NoteDelivery(u, parley.EventDelivery(after.State), after); err != nil {
		return err
	}
	for _, follow := range u.Core.Hooks.DeliveryChanged {
		if err := follow(u, before, after); err != nil {
			return err
		}
	}
	return nil
}

// Save stores a changed delivery without a change of state. With a lease it stores the name of the process that gave or
// extended the lease last.
func Save(u *unit.Unit, d *parley.Delivery, after parley.Delivery) error {
	after.Node = ""
	if after.Lease != "" {
		after.Node = u.Core.Config.Node
	}
	err := u.Deliveries().Put(*d, after)
	if err == nil {
		u.LeaseHolders = nil
		*d = after
		u.Touch(d.Message)
	}
	return err
}

// stamp sets the times of a step. Going back to accepted clears what was begun. A step that ends the attempt ends the lease.
func stamp(d *parley.Delivery, now time.Time) {
	switch d.State {
	case parley.DeliveryAccepted:
		d.DeliveredAt, d.SeenAt, d.SettledAt, d.Run = nil, nil, nil, ""
	case parley.DeliveryDelivered:
		d.DeliveredAt = &now
		return
	case parley.DeliverySeen:
		d.SeenAt = &now
		return
	case parley.DeliveryAnswered:
		d.AnsweredAt = &now
	}
	d.Lease, d.Until = "", 0
	if d.State.Settled() && d.SettledAt == nil {
		d.SettledAt = &now
	}
}

// StateError returns the error for a step that a delivery cannot take.
func StateError(d parley.Delivery, to parley.DeliveryState) error {
	return parley.Errorf(parley.BadInput, "message %s for %s is %s and cannot become %s", d.ShortName(), d.Recipient, d.State, to).
		Because(parley.Conflict).Suggest("see its state: parley trace %s", d.ShortName())
}

// NoteDelivery notes an event about a delivery.
func NoteDelivery(u *unit.Unit, kind parley.EventKind, d parley.Delivery) error {
	data, err := json.Marshal(struct {
		State   parley.DeliveryState `json:"state"`
		Seq     int64                `json:"seq"` // of the message
		PairSeq int64                `json:"pair_seq"`
		Attempt int                  `json:"attempt,omitempty"`
		Run     string               `json:"run,omitempty"`
		Answer  string               `json:"answer,omitempty"`
		Failure *parley.Error        `json:"failure,omitempty"`
	}{d.State, d.Seq, d.PairSeq, d.Attempt, d.Run, d.Answer, d.Failure})
	e := parley.Event{Kind: kind, Conversation: d.Conversation, Agent: d.Recipient, Data: data}
	if parley.IsUUID(d.Message) { // a damaged row may hold anything
		e.Message = d.Message
	}
	u.Note(e)
	return err
}

// End moves a delivery to a state without success: failed, expired, evicted, dropped or dead. It stores the cause and tells the
// sender. It counts an attempt that had begun as failed.
func End(u *unit.Unit, d *parley.Delivery, to parley.DeliveryState, cause *parley.Error) error {
	attempt := d.Attempt
	if d.State == parley.DeliveryDelivered || d.State == parley.DeliverySeen {
		attempt++
	}
	err := SetState(u, d, to, func(d *parley.Delivery) { d.Attempt, d.Failure = attempt, cause })
	if err != nil {
		return err
	}
	for _, follow := range u.Core.Hooks.DeliveryFailed {
		if err := follow(u, *d, cause); err != nil {
			return err
		}
	}
	return nil
}

// RemovedError returns the error of a delivery whose recipient was removed.
func RemovedError(a parley.Agent) *parley.Error {
	return agents.RemovedError(a.Name)
}

// DefaultLease is how long a lease lasts if the caller does not say.
const DefaultLease = time.Minute

// MaxLease is the longest lease.
const MaxLease = 12 * time.Hour

// DefaultTake is how many deliveries a call takes if the caller does not say.
const DefaultTake = 20

// MaxTaken is how many deliveries a call takes at most.
const MaxTaken = 500

// DueBatch is how many due deliveries one update handles.
const DueBatch = 100

// ErrorsKept is how long an error message stays queued for an agent that never polls. Error messages do not count toward the
// size of an inbox, so nothing else limits them.
const ErrorsKept = 7 * 24 * time.Hour

package deliveries

import (
	"encoding/json"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Move takes a delivery to another state, by every state on the way, and writes the event. It is the
// only place where the state of a delivery changes. edit sets what goes with it.
func Move(u *unit.Unit, d *parley.Delivery, to parley.DeliveryState, edit func(*parley.Delivery)) error {
	after := *d
	for _, next := range d.State.Path(to) {
		if !after.State.May(next) {
			return WrongStep(*d, to)
		}
		after.State = next
		stamp(&after, u.Now)
	}
	if edit != nil {
		edit(&after)
	}
	before := *d
	if err := Keep(u, d, after); err != nil {
		return err
	}
	if after.Ready() {
		u.Wake(after.Recipient)
	}
	if err := NoteDelivery(u, parley.EventDelivery(after.State), after); err != nil {
		return err
	}
	for _, follow := range u.Core.Hooks.DeliveryMoved {
		if err := follow(u, before, after); err != nil {
			return err
		}
	}
	return nil
}

// Keep stores a changed delivery without a change of state. A lease is stored with the hub that gave or extended it last.
func Keep(u *unit.Unit, d *parley.Delivery, after parley.Delivery) error {
	after.Node = ""
	if after.Lease != "" {
		after.Node = u.Core.Config.Node
	}
	err := u.Deliveries().Put(*d, after)
	if err == nil {
		*d = after
		u.Touch(d.Message)
	}
	return err
}

// stamp gives a step its time. Whatever was begun is undone by going back to the start, and nobody has
// what is settled.
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

func WrongStep(d parley.Delivery, to parley.DeliveryState) error {
	return parley.Errorf(parley.BadInput, "message %s for %s is %s and cannot become %s", d.ShortName(), d.Recipient, d.State, to).
		Because(parley.Conflict).Suggest("look at what has become of it")
}

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
	if parley.IsUUID(d.Message) { // it may be damaged
		e.Message = d.Message
	}
	u.Note(e)
	return err
}

// End takes a delivery to a failure it will not leave by itself, and tells the sender. The try that
// somebody had begun has failed with it.
func End(u *unit.Unit, d *parley.Delivery, to parley.DeliveryState, cause *parley.Error) error {
	attempt := d.Attempt
	if d.State == parley.DeliveryDelivered || d.State == parley.DeliverySeen {
		attempt++
	}
	err := Move(u, d, to, func(d *parley.Delivery) { d.Attempt, d.Failure = attempt, cause })
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

func Removed(a parley.Agent) *parley.Error {
	return agents.WasRemoved(a.Name)
}

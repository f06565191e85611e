package runs

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Step takes a run to another state and notes the event. No other function changes the state of a run. edit sets other
// fields with the state.
func Step(u *unit.Unit, r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if !r.State.May(to) {
		return parley.Errorf(parley.BadInput, "run %s is %s and cannot become %s", r.ID, r.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	after := *r
	after.State = to
	switch {
	case !to.Live():
		after.EndedAt = &u.Now
	case after.StartedAt == nil:
		after.StartedAt = &u.Now
	}
	if edit != nil {
		edit(&after)
	}
	if err := KeepRun(u, r, after); err != nil {
		return err
	}
	return NoteRun(u, after)
}

// KeepRun stores a changed run.
func KeepRun(u *unit.Unit, r *parley.Run, after parley.Run) error {
	err := u.Runs().Put(after)
	if err == nil {
		*r = after
	}
	return err
}

// SetProcess stores the process of a run, or that the run has none.
func SetProcess(u *unit.Unit, r *parley.Run, p parley.Process) error {
	after := *r
	after.Process = p
	return KeepRun(u, r, after)
}

// NoteRun notes an event about the state of a run, for owners and the agent. It also notes a sign of the agent, unless the
// run is lost.
func NoteRun(u *unit.Unit, r parley.Run) error {
	data, err := json.Marshal(struct {
		Run          string          `json:"run"`
		Number       int64           `json:"number,omitempty"`
		State        parley.RunState `json:"state"`
		Conversation string          `json:"conversation"`
		Runtime      string          `json:"runtime"`
		Attempt      int             `json:"attempt"`
		Answer       string          `json:"answer,omitempty"`
		Cancel       string          `json:"cancel,omitempty"`
		Failure      *parley.Error   `json:"failure,omitempty"`
	}{r.ID, r.Number, r.State, r.Conversation, r.Runtime, r.Attempt, r.Answer, r.Cancel, r.Failure})
	u.Note(parley.Event{Kind: parley.EventRun(r.State), Agent: r.Agent, Data: data})
	if r.State != parley.RunLost {
		u.Core.Attendance.Glimpsed(r.Agent, u.Now)
	}
	return err
}

// Begin takes a run from starting to running, and its triggers from delivered to seen.
func Begin(u *unit.Unit, r *parley.Run, p parley.Process) error {
	if err := Step(u, r, parley.RunRunning, func(r *parley.Run) { r.Process = p }); err != nil {
		return err
	}
	list, err := u.Queue().Leased(r.ID)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryDelivered {
			err = deliveries.Move(u, &list[i], parley.DeliverySeen, nil)
		}
	}
	return err
}

// Cancel marks a run as cancelled and wakes its dispatcher, which ends the run.
func Cancel(u *unit.Unit, r *parley.Run, reason string) error {
	after := *r
	after.Cancel = reason
	if err := KeepRun(u, r, after); err != nil {
		return err
	}
	u.Wake(r.Agent)
	return NoteRun(u, *r)
}

// SeeQuiet marks deliveries that do not wake the agent as seen if a run's context includes them.
func SeeQuiet(u *unit.Unit, r parley.Run, from, upTo int64) error {
	if upTo == 0 {
		return nil
	}
	list, err := u.Deliveries().Between(r.Conversation, r.Agent, from-1, upTo, deliveries.MostTaken)
	for i := range list {
		if err == nil && list[i].Ready() && !list[i].Waking {
			err = deliveries.Move(u, &list[i], parley.DeliverySeen, func(d *parley.Delivery) { d.Run = r.ID })
		}
	}
	return err
}

// EraseToken erases the token of a run. It keeps the token of a webhook that answered, so that a repeated answer gets its
// receipt.
func EraseToken(u *unit.Unit, r parley.Run) error {
	if r.Runtime == parley.RuntimeWebhook {
		t, err := u.Tokens().Get(r.ID)
		if err != nil || access.KeptReply(t) {
			return unit.IgnoreNotFound(err)
		}
	}
	return unit.IgnoreNotFound(access.EraseToken(u.Tx, r.ID))
}

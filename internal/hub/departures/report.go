package departures

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// ApplyReport applies a report of the bridge on one departure: it moves the departure and its deliveries. A report of an earlier
// state than the stored one changes nothing.
func ApplyReport(u *unit.Unit, b parley.Bridge, r parley.DepartureReport) error {
	if r.State == parley.DepartureDue || !r.State.Known() {
		return parley.Errorf(parley.BadInput, "%q is not a state of a departure", r.State).Suggest("use written, seen, failed or evicted")
	}
	num, err := ParseID(r.ID)
	if err != nil {
		return err
	}
	row, err := u.Bridges().DepartureAt(b.ID, num)
	if errors.Is(err, parley.ErrNotFound) {
		return unit.Unknown{Noun: "departure", Name: r.ID}
	}
	if err != nil || !row.State.May(r.State) {
		return err // the departure is in this or a later state
	}
	listed := row.State == parley.DepartureDue
	if row.Recipient == "" {
		return settlePost(u, b, row, r)
	}
	if err := setState(u, &row, r.State); err != nil {
		return err
	}
	if err := noteRecipientPresent(u, b, row); err != nil {
		return err
	}
	d, err := u.Deliveries().Get(row.Message, row.Recipient)
	switch {
	case err != nil || d.Lease != "":
		return unit.IgnoreNotFound(err) // another client has leased the delivery
	case d.Open():
		if err := moveDelivery(u, &d, r); err != nil {
			return err
		}
		if d.Waking || r.State == parley.DepartureWritten {
			return nil
		}
		return reports.ReportRead(u, d.Recipient)
	case listed && (r.State == parley.DepartureWritten || r.State == parley.DepartureSeen):
		return tellAssigneeFailed(u, d)
	default:
		return nil // the delivery has ended in another way
	}
}

// tellAssigneeFailed tells the assignee that a request in its tree had already failed when the file was written.
func tellAssigneeFailed(u *unit.Unit, d parley.Delivery) error {
	if d.State != parley.DeliveryFailed || d.Purpose != parley.PurposeTask || d.Failure == nil {
		return nil
	}
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	t, found, err := trees.TaskOf(u, m)
	if err != nil || !found || t.Status == parley.TaskCompleted && t.Assignee == d.Recipient {
		return err
	}
	a, err := u.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	t.Conversation = m.Conversation
	return work.TellAssignee(u, t, a, d.Failure.Message)
}

// noteRecipientPresent notes that an agent that lives in the tree is present, because it took a file.
func noteRecipientPresent(u *unit.Unit, b parley.Bridge, row storage.DepartureRow) error {
	if row.State != parley.DepartureSeen {
		return nil
	}
	a, lives, err := trees.LivesIn(u, b, row.Recipient)
	if lives {
		trees.NotePresence(u, b, a, u.Now)
	}
	return err
}

// moveDelivery moves a delivery to the state of its file. The delivery has no lease, because the file stays until a script takes
// it.
func moveDelivery(u *unit.Unit, d *parley.Delivery, r parley.DepartureReport) error {
	switch r.State {
	case parley.DepartureWritten:
		if d.State != parley.DeliveryAccepted {
			return nil
		}
		return deliveries.SetState(u, d, parley.DeliveryDelivered, func(d *parley.Delivery) { d.Until = 0 })
	case parley.DepartureSeen:
		return deliveries.SetState(u, d, parley.DeliverySeen, func(d *parley.Delivery) { d.Until = 0 })
	case parley.DepartureEvicted:
		return deliveries.End(u, d, parley.DeliveryEvicted, parley.Errorf(parley.Unavailable, "the inbox of %s was full, and this was its oldest message", d.Recipient).
			Suggest("send it again later; it can still be read in its conversation"))
	default:
		return deliveries.End(u, d, parley.DeliveryFailed, writeFailure(r))
	}
}

// writeFailure returns the error for a file that could not be written.
func writeFailure(r parley.DepartureReport) *parley.Error {
	if r.Error == nil {
		return parley.Errorf(parley.DependencyFailed, "the bridge could not write this message into the directory tree").Suggest("see the log of the bridge")
	}
	cause := *r.Error
	cause.Message, cause.Suggestion = unit.Storable(cause.Message), unit.Storable(cause.Suggestion)
	return &cause
}

// settlePost moves the deliveries of a post in a channel to agents in the tree. It acks them once the file exists, because the
// hub does not learn which agents read the file.
func settlePost(u *unit.Unit, b parley.Bridge, row storage.DepartureRow, r parley.DepartureReport) error {
	failed, to := r.State == parley.DepartureFailed, parley.DepartureSeen
	if failed {
		to = parley.DepartureFailed
	}
	if err := setState(u, &row, to); err != nil {
		return err
	}
	list, err := u.Deliveries().OfMessage(row.Message)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	residents, err := trees.AgentsIn(u, b)
	for i := range list {
		d := &list[i]
		_, lives := residents[d.Recipient]
		if err == nil && !lives {
			lives, err = trees.ReportedIn(u, b, d.Message, d.Recipient)
		}
		switch {
		case err != nil:
			return err
		case !lives || d.Lease != "" || failed && !d.Open():
		case !d.Open():
			err = tellAssigneeFailed(u, *d)
		case failed:
			err = deliveries.SetState(u, d, parley.DeliveryFailed, func(d *parley.Delivery) { d.Failure = writeFailure(r) })
		default:
			err = deliveries.SetState(u, d, parley.DeliveryAcked, func(d *parley.Delivery) { d.Until = 0 })
		}
	}
	if err != nil || !failed {
		return err
	}
	return unit.IgnoreNotFound(messages.TellSender(u, parley.Delivery{Message: row.Message, State: parley.DeliveryFailed}, writeFailure(r), true))
}

// RecallFor makes the written deliveries of agents that leave the tree pending again, because the bridge no longer reports on
// them. If such an agent comes back, its files get the same names.
func RecallFor(u *unit.Unit, b parley.Bridge, leaves func(agent string) bool) error {
	for after := int64(0); ; {
		rows, err := u.Bridges().Departures(b.ID, parley.DepartureWritten, after, departuresPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if after = row.Num; !leaves(row.Recipient) {
				continue
			}
			if err := recallDeparture(u, row); err != nil {
				return err
			}
		}
		if len(rows) < departuresPage {
			return nil
		}
	}
}

// recallDeparture makes one written delivery pending again and fails its departure.
func recallDeparture(u *unit.Unit, row storage.DepartureRow) error {
	d, err := u.Deliveries().Get(row.Message, row.Recipient)
	if err == nil && d.State == parley.DeliveryDelivered && d.Lease == "" {
		err = deliveries.SetState(u, &d, parley.DeliveryAccepted, nil)
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	return setState(u, &row, parley.DepartureFailed)
}

// RecallFromAll recalls the deliveries of an agent from all trees that it was in.
func RecallFromAll(u *unit.Unit, agent string) error {
	all, err := u.Bridges().List()
	for _, b := range trees.FilterByAgent(all, agent) {
		if err == nil {
			err = RecallFor(u, b, func(id string) bool { return id == agent })
		}
	}
	return err
}

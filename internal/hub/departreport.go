package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// Report tells what became of departures. What has come further already stays as it is.
func (b bridgeDoor) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	for part := range slices.Chunk(reports, mostDepartures) {
		err := b.hub.write(ctx, b.caller, opReportDepartures, func(s *scene) error {
			view, err := s.bridge(id)
			for _, r := range part {
				if err == nil {
					err = s.report(view.Bridge, r)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) report(b parley.Bridge, r parley.DepartureReport) error {
	if r.State == parley.DepartureDue || !r.State.Known() {
		return parley.Errorf(parley.BadInput, "%q is nothing to report of a departure", r.State).Suggest("report written, seen, failed or evicted")
	}
	num, err := departureNum(r.ID)
	if err != nil {
		return err
	}
	row, err := s.Bridges().DepartureAt(b.ID, num)
	if errors.Is(err, parley.ErrNotFound) {
		return unknown{"departure", r.ID}
	}
	if err != nil || !row.State.May(r.State) {
		return err // it has come further already
	}
	listed := row.State == parley.DepartureDue
	if row.Recipient == "" {
		return s.reportPost(b, row, r)
	}
	if err := s.stepDeparture(&row, r.State); err != nil {
		return err
	}
	if err := s.heardBy(b, row); err != nil {
		return err
	}
	d, err := s.Deliveries().Get(row.Message, row.Recipient)
	switch {
	case err != nil || d.Lease != "":
		return ignoreNotFound(err) // somebody else has it
	case d.Open():
		if err := s.reportMail(&d, r); err != nil {
			return err
		}
		if d.Waking || r.State == parley.DepartureWritten {
			return nil
		}
		return s.reportRead(d.Recipient)
	case listed && (r.State == parley.DepartureWritten || r.State == parley.DepartureSeen):
		return s.takeBack(d)
	default:
		return nil // it has ended otherwise
	}
}

// takeBack tells whoever finds a request for work in its tree that was not wanted any more when it was written.
func (s *scene) takeBack(d parley.Delivery) error {
	if d.State != parley.DeliveryFailed || d.Purpose != parley.PurposeTask || d.Failure == nil {
		return nil
	}
	m, err := s.Messages().Get(d.Message)
	if err != nil {
		return ignoreNotFound(err)
	}
	t, found, err := s.belongsTo(m)
	if err != nil || !found || t.Status == parley.TaskCompleted && t.Assignee == d.Recipient {
		return err
	}
	a, err := s.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	t.Conversation = m.Conversation
	return s.tellAssignee(t, a, d.Failure.Message)
}

// heardBy notes that somebody who lives in a tree is there, for it has taken a file.
func (s *scene) heardBy(b parley.Bridge, row parley.DepartureRow) error {
	if row.State != parley.DepartureSeen {
		return nil
	}
	a, lives, err := s.livesIn(b, row.Recipient)
	if lives {
		s.signOf(b, a, s.now)
	}
	return err
}

// reportMail has a delivery follow its file. Nobody leases it: a file is there until somebody takes it away.
func (s *scene) reportMail(d *parley.Delivery, r parley.DepartureReport) error {
	switch r.State {
	case parley.DepartureWritten:
		if d.State != parley.DeliveryAccepted {
			return nil
		}
		return s.move(d, parley.DeliveryDelivered, func(d *parley.Delivery) { d.Until = 0 })
	case parley.DepartureSeen:
		return s.move(d, parley.DeliverySeen, func(d *parley.Delivery) { d.Until = 0 })
	case parley.DepartureEvicted:
		return s.end(d, parley.DeliveryEvicted, parley.Errorf(parley.Unavailable, "the inbox of %s was full, and this was the oldest in it", d.Recipient).
			Suggest("send it again later; it can still be read in its conversation"))
	default:
		return s.end(d, parley.DeliveryFailed, unwritten(r))
	}
}

// unwritten is why a file could not be written.
func unwritten(r parley.DepartureReport) *parley.Error {
	if r.Error == nil {
		return parley.Errorf(parley.DependencyFailed, "this could not be written into a directory tree").Suggest("see the log of the bridge")
	}
	cause := *r.Error
	cause.Message, cause.Suggestion = storable(cause.Message), storable(cause.Suggestion)
	return &cause
}

// reportPost has what a post in a channel means for those who live in the tree follow its file: once that is there, it is
// settled, and nothing more is known of it.
func (s *scene) reportPost(b parley.Bridge, row parley.DepartureRow, r parley.DepartureReport) error {
	failed, to := r.State == parley.DepartureFailed, parley.DepartureSeen
	if failed {
		to = parley.DepartureFailed
	}
	if err := s.stepDeparture(&row, to); err != nil {
		return err
	}
	list, err := s.Deliveries().Of(row.Message)
	if err != nil {
		return ignoreNotFound(err)
	}
	residents, err := s.residents(b)
	for i := range list {
		d := &list[i]
		_, lives := residents[d.Recipient]
		if err == nil && !lives {
			lives, err = s.toldIn(b, d.Message, d.Recipient)
		}
		switch {
		case err != nil:
			return err
		case !lives || d.Lease != "" || failed && !d.Open():
		case !d.Open():
			err = s.takeBack(*d)
		case failed:
			err = s.move(d, parley.DeliveryFailed, func(d *parley.Delivery) { d.Failure = unwritten(r) })
		default:
			err = s.move(d, parley.DeliveryAcked, func(d *parley.Delivery) { d.Until = 0 })
		}
	}
	if err != nil || !failed {
		return err
	}
	return ignoreNotFound(s.tell(parley.Delivery{Message: row.Message, State: parley.DeliveryFailed}, unwritten(r), true))
}

// recall gives back what lies in the tree of a bridge for those who do not live there any more: nobody would say what becomes of
// it. Should one come back, it is written again under the same name.
func (s *scene) recall(b parley.Bridge, leaves func(agent string) bool) error {
	for after := int64(0); ; {
		rows, err := s.Bridges().Departures(b.ID, parley.DepartureWritten, after, departuresRead)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if after = row.Num; !leaves(row.Recipient) {
				continue
			}
			if err := s.recallOne(row); err != nil {
				return err
			}
		}
		if len(rows) < departuresRead {
			return nil
		}
	}
}

func (s *scene) recallOne(row parley.DepartureRow) error {
	d, err := s.Deliveries().Get(row.Message, row.Recipient)
	if err == nil && d.State == parley.DeliveryDelivered && d.Lease == "" {
		err = s.move(&d, parley.DeliveryAccepted, nil)
	}
	if err = ignoreNotFound(err); err != nil {
		return err
	}
	return s.stepDeparture(&row, parley.DepartureFailed)
}

// recallAll does so in all trees for an agent that lives in none any more.
func (s *scene) recallAll(agent string) error {
	all, err := s.Bridges().List()
	for _, b := range treesOf(all, agent) {
		if err == nil {
			err = s.recall(b, func(id string) bool { return id == agent })
		}
	}
	return err
}

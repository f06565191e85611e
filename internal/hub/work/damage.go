package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// EndDamaged ends a damaged delivery and tells its sender. A settled delivery stays settled: it was fetched at most once,
// and that has failed.
func EndDamaged(u *unit.Unit, d *parley.Delivery, why *parley.Error) error {
	if d.State.Settled() {
		return messages.TellSender(u, *d, why, true)
	}
	if err := restorePurpose(u, d); err != nil {
		return err
	}
	return deliveries.End(u, d, parley.DeliveryFailed, why)
}

// restorePurpose restores the purpose of a delivery whose row is damaged, from the ask or task that it belongs to. Otherwise that
// ask or task would wait for ever.
func restorePurpose(u *unit.Unit, d *parley.Delivery) error {
	if d.Damage == nil {
		return nil
	}
	w, err := u.Waits().Ask(d.Message)
	if err == nil && w.Target == d.Recipient {
		d.Waking, d.Purpose = true, parley.PurposeAsk
		return nil
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	if d.Purpose != "" { // only an error wakes nobody
		d.Waking = d.Purpose != parley.PurposeError
		return nil
	}
	m, err := u.Messages().Get(d.Message)
	if err == nil && m.Task != "" {
		d.Waking, d.Purpose = true, parley.PurposeTask
	}
	return unit.IgnoreNotFound(err)
}

// taskDamaged is called when a delivery has ended because it is damaged. Its task has failed, unless the task goes on without
// it. If the message no longer names its task, taskDamaged fails the active tasks of its recipient that do not go on.
func taskDamaged(u *unit.Unit, d parley.Delivery) error {
	t, found, err := taskBehind(u, d)
	if err != nil {
		return err
	}
	if found {
		return FailUnlessGoingOn(u, t, FailureWithoutName(*d.Failure, d.Recipient))
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || d.Purpose == "" || !recipient.Dispatched() {
		return err // other agents end their tasks themselves
	}
	list, err := u.Tasks().AssignedTo(d.Recipient)
	for _, t := range list {
		if err == nil {
			t, err = u.Tasks().Get(t.ID) // it may have ended with an earlier one
		}
		if err == nil && t.Status == parley.TaskActive {
			err = FailUnlessGoingOn(u, t, FailureWithoutName(*d.Failure, d.Recipient))
		}
	}
	return err
}

// FindBegunTask returns the task that a damaged message began, because the message itself no longer names it. It returns nothing if there
// is none.
func FindBegunTask(u *unit.Unit, message string) (string, error) {
	t, err := u.Tasks().BegunBy(message)
	return t.ID, unit.IgnoreNotFound(err)
}

// StandInForLost makes a stand-in for a message that a delivery names and that is missing, though its conversation exists: a message
// must stay as long as a delivery of it is open.
func StandInForLost(u *unit.Unit, d parley.Delivery) (m parley.Message, found bool, err error) {
	if d.State.Settled() {
		return m, false, nil // the message may have been erased
	}
	if d.Damage == nil {
		now, err := u.Deliveries().Get(d.Message, d.Recipient)
		if err = unit.IgnoreNotFound(err); err != nil {
			return m, false, err
		}
		if now.Message != "" {
			return m, false, nil // the delivery has ended meanwhile, or can be read again
		}
		if _, err := u.Conversations().Find(d.Conversation); err != nil {
			return m, false, unit.IgnoreNotFound(err)
		}
	}
	damage := parley.Damage{What: "message", Seq: d.Seq, ID: d.Message, Why: "it cannot be found by its id"}
	return parley.DamagedMessage(damage, d.Conversation), true, nil
}

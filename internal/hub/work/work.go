// Package work holds what a task, an ask, a run or an approval does to others when it moves: callbacks, dependants, waiters,
// withdrawn approvals, freed callers.
package work

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// UpdatePurpose updates what a delivery is for after its state has changed: the ask is over, the task has begun, or the task has failed.
// For an agent that acknowledges by fetching, the ask stays open.
func UpdatePurpose(u *unit.Unit, before, after parley.Delivery) error {
	if !after.Waking {
		return nil
	}
	ended := after.State.Settled() || after.State == parley.DeliveryDead
	fetched := u.Fetching && after.State == parley.DeliveryAcked
	switch {
	case after.Purpose == parley.PurposeAsk && ended && !fetched:
		return askEnded(u, after)
	case after.Purpose == parley.PurposeError || after.Purpose == parley.PurposeAsk:
		return nil
	case ended && after.State != parley.DeliveryAcked && after.State != parley.DeliveryAnswered:
		return taskDeliveryEnded(u, after)
	case after.Purpose == parley.PurposeTask && before.SeenAt == nil && after.SeenAt != nil:
		return taskSeen(u, after)
	default:
		return nil
	}
}

// RetryOrEnd handles a delivery that its holder could not finish: the hub retries it after a pause, or ends it.
func RetryOrEnd(u *unit.Unit, d *parley.Delivery, f parley.Failure, cause *parley.Error, wait time.Duration) error {
	return RetryOrEndAfter(u, d, f, cause, max(wait, f.Pause(d.Attempt+1)))
}

// RetryOrEndAfter is RetryOrEnd with exactly this pause.
func RetryOrEndAfter(u *unit.Unit, d *parley.Delivery, f parley.Failure, cause *parley.Error, pause time.Duration) error {
	last := cause
	if attempts := d.Attempt + 1; attempts > 1 {
		last = parley.Errorf(cause.Code, "%s (%d attempts)", cause.Message, attempts)
	}
	return giveBackOrEnd(u, d, f, failures{cause, last}, pause)
}

// ReturnUnhandled gives back a delivery that its recipient has neither answered nor acknowledged while its lease lasted.
func ReturnUnhandled(u *unit.Unit, d *parley.Delivery) error {
	cause := deliveries.Unhandled(d.Recipient, d.Attempt+1)
	return giveBackOrEnd(u, d, parley.FailureLost, failures{cause, cause}, parley.FailureLost.Pause(d.Attempt+1))
}

// failures are why an attempt failed, and why the delivery is a dead letter if it was the last attempt.
type failures struct{ attempt, last *parley.Error }

func giveBackOrEnd(u *unit.Unit, d *parley.Delivery, f parley.Failure, why failures, pause time.Duration) error {
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	attempts := d.Attempt + 1
	if ended, err := EndUnwanted(u, d, recipient); err != nil || ended {
		return err
	}
	switch {
	case d.Purpose == parley.PurposeAsk && recipient.Stopped != nil:
		return deliveries.End(u, d, parley.DeliveryFailed, deliveries.Failed(d.Recipient, parley.Trouble{Failure: parley.FailureStopped, Reason: runs.WhyStopped}))
	case f == parley.FailureStopped:
		return deliveries.SetState(u, d, parley.DeliveryAccepted, nil)
	case f == parley.FailureFinal, d.Purpose == parley.PurposeAsk:
		return deliveries.End(u, d, parley.DeliveryFailed, why.attempt)
	case recipient.Kind == parley.KindAgent && attempts >= recipient.Attempts:
		return MakeDeadLetter(u, d, parley.Errorf(why.last.Code, "%s", why.last.Message))
	}
	until := parley.Tick(0)
	if pause > 0 {
		now, err := u.Queue().Now()
		if err != nil {
			return err
		}
		until = now.After(pause)
	}
	return deliveries.SetState(u, d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Attempt, d.Failure, d.Until = attempts, why.attempt, until })
}

// EndUnwanted ends a returned delivery whose recipient was removed, or whose work is no longer wanted. It returns true if it has ended the
// delivery.
func EndUnwanted(u *unit.Unit, d *parley.Delivery, recipient parley.Agent) (bool, error) {
	if recipient.RemovedAt != nil {
		return true, deliveries.End(u, d, parley.DeliveryFailed, deliveries.RemovedError(recipient))
	}
	return endIfOutdated(u, d)
}

// MakeDeadLetter makes a delivery a dead letter and notifies people.
func MakeDeadLetter(u *unit.Unit, d *parley.Delivery, cause *parley.Error) error {
	if err := deliveries.End(u, d, parley.DeliveryDead, cause.Suggest("an owner can retry or drop it: parley dead list")); err != nil {
		return err
	}
	return messages.TellDead(u, *d)
}

// Expire ends a delivery that its recipient has not taken in time.
func Expire(u *unit.Unit, d *parley.Delivery) error {
	return deliveries.End(u, d, parley.DeliveryExpired, parley.Errorf(parley.TimedOut, "the message expired before %s took it", d.Recipient).
		Suggest("send it again with a longer ttl, or without one"))
}

package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// SweepDeliveries does what is due for deliveries: it ends leases and pauses that are over, expires messages, and reports
// overdue and late ones.
func (s *Service) SweepDeliveries(ctx context.Context) error {
	return errors.Join(
		sweepEach(ctx, s.Core, LapsedDeliveries, EndLeaseOrPause),
		sweepEach(ctx, s.Core, dueDeliveries, handleDue),
	)
}

// sweepEach calls do for all deliveries that find returns, in small updates that do not block others for long. If there are
// none, it only reads.
func sweepEach(ctx context.Context, core *unit.Core, find func(*unit.Unit, int) ([]parley.Delivery, error), do func(*unit.Unit, *parley.Delivery) error) error {
	for {
		var list []parley.Delivery
		err := core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			list, err = find(u, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			if list, err = find(u, deliveries.DueBatch); err != nil {
				return err
			}
			return ForEachUnchanged(u, list, do)
		})
		if err != nil || len(list) < deliveries.DueBatch {
			return err
		}
	}
}

// ForEachUnchanged calls do for each delivery of a list. It skips a delivery that has changed since it was found, for example because do
// ended it together with another one.
func ForEachUnchanged(u *unit.Unit, list []parley.Delivery, do func(*unit.Unit, *parley.Delivery) error) error {
	for _, found := range list {
		d, err := u.Deliveries().Get(found.Message, found.Recipient)
		switch {
		case errors.Is(err, parley.ErrNotFound) && found.Damage != nil: // it has no id by which it could be found
			err = work.EndDamaged(u, &found, found.Damage.Err())
		case err == nil && d.State == found.State && d.Attempt == found.Attempt && d.Lease == found.Lease:
			err = do(u, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// LapsedDeliveries returns at most limit deliveries whose lease or pause is over.
func LapsedDeliveries(u *unit.Unit, limit int) ([]parley.Delivery, error) {
	now, err := u.Queue().Now()
	if err != nil {
		return nil, err
	}
	return u.Queue().Lapsed(now, limit)
}

// EndLeaseOrPause ends a lease that has lapsed, or a pause before the next attempt that is over.
func EndLeaseOrPause(u *unit.Unit, d *parley.Delivery) error {
	if d.State == parley.DeliveryAccepted && d.Lease != "" {
		return returnLost(u, d) // it waited for a client session that is lost
	}
	if d.State == parley.DeliveryAccepted {
		after := *d
		after.Until = 0
		u.Wake(d.Recipient)
		return deliveries.Save(u, d, after)
	}
	if d.Lease == d.Run {
		return loseLeasedRun(u, d)
	}
	if held, err := sessions.Holds(u, d.Lease); err != nil || held {
		return errors.Join(err, returnLost(u, d))
	}
	return work.ReturnUnhandled(u, d)
}

// returnLost gives back a delivery whose holder has disappeared.
func returnLost(u *unit.Unit, d *parley.Delivery) error {
	lost := parley.Trouble{Failure: parley.FailureLost}
	return work.RetryOrEnd(u, d, lost.Failure, deliveries.Failed(d.Recipient, lost), 0)
}

// loseLeasedRun ends the run that holds a delivery, and gives back all deliveries of the run. If the run kept some of them, it
// would answer messages that the hub gives to another run.
func loseLeasedRun(u *unit.Unit, d *parley.Delivery) error {
	r, lives, err := runs.RunOf(u, *d)
	switch {
	case err != nil:
		return err
	case lives:
		return endLostRun(u, &r)
	default:
		return returnLost(u, d)
	}
}

func dueDeliveries(u *unit.Unit, limit int) ([]parley.Delivery, error) {
	return u.Queue().Due(u.Now, limit)
}

// handleDue does what is due by the wall clock: it expires a delivery, or reports it as overdue or late, each at most once.
func handleDue(u *unit.Unit, d *parley.Delivery) error {
	if d.State == parley.DeliveryAccepted && d.ExpiresAt != nil && !d.ExpiresAt.After(u.Now) {
		return work.Expire(u, d)
	}
	after := *d
	after.Late = after.Late || d.MayMissDeadline() && !d.Deadline.After(u.Now)
	after.Overdue = after.Overdue || d.MayBecomeOverdue() && !d.OverdueAt().After(u.Now)
	late, overdue := after.Late && !d.Late, after.Overdue && !d.Overdue
	if err := deliveries.Save(u, d, after); err != nil {
		return err
	}
	if overdue {
		err := noteMissed(u, *d, parley.EventOverdue,
			parley.Errorf(parley.TimedOut, "%s has not seen this for %s", d.Recipient, formatDuration(d.Priority.Due())).Suggest("%s", whyUnseen(u, *d)))
		if err != nil {
			return err
		}
	}
	if late {
		acked, err := seenCountsAsAck(u, *d)
		if err != nil || acked {
			return err
		}
		return noteMissed(u, *d, parley.EventLate,
			parley.Errorf(parley.TimedOut, "%s has not answered this by %s", d.Recipient, d.Deadline.Format(time.RFC3339)).
				Suggest("the message is still open: wait, or ask another participant"))
	}
	return nil
}

// seenCountsAsAck reports whether a seen delivery counts as acknowledged. It does for an agent that the hub runs, because such
// an agent does not acknowledge messages itself.
func seenCountsAsAck(u *unit.Unit, d parley.Delivery) (bool, error) {
	if d.SeenAt == nil {
		return false, nil
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || !recipient.Dispatched() {
		return false, err
	}
	m, err := u.Messages().Get(d.Message)
	return err == nil && m.RequiresAck, unit.IgnoreNotFound(err)
}

func formatDuration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
}

func whyUnseen(u *unit.Unit, d parley.Delivery) string {
	recipient, err := u.Agents().Find(d.Recipient)
	if err == nil && recipient.Asleep(u.Now) {
		return "it sleeps until " + recipient.SleepingUntil.Format(time.RFC3339)
	}
	if reason, ok, err := presence.MayStart(u, recipient); err == nil && !ok {
		return "it is " + reason + "; until that ends, the message stays in its inbox"
	}
	return "the message stays in its inbox; check whether the recipient is running"
}

// noteMissed writes an event that a time has passed, and tells the sender. The delivery stays open.
func noteMissed(u *unit.Unit, d parley.Delivery, kind parley.EventKind, cause *parley.Error) error {
	if err := deliveries.NoteDelivery(u, kind, d); err != nil {
		return err
	}
	return messages.TellSender(u, d, cause, false)
}

// FailOrphanedDeliveries fails the open deliveries to removed participants. Removing a participant calls it; the sweep repeats it in case
// the hub crashed in between.
func FailOrphanedDeliveries(ctx context.Context, core *unit.Core) error {
	var ids []string
	err := core.Store.View(ctx, func(tx storage.Tx) (err error) {
		ids, err = tx.Queue().Orphaned()
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = sweepEach(ctx, core, func(u *unit.Unit, limit int) ([]parley.Delivery, error) { return openDeliveries(u, id, limit) }, failOrphan)
		}
	}
	return err
}

// openDeliveries returns open deliveries to a participant.
func openDeliveries(u *unit.Unit, id string, limit int) ([]parley.Delivery, error) {
	list, err := u.Queue().LeasedOrPaused(id, 0, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil || len(list) >= limit {
			break
		}
		var more []parley.Delivery
		more, err = u.Queue().Ready(storage.QueueFilter{Recipient: id, Wakes: wakes, Limit: limit - len(list)})
		list = append(list, more...)
	}
	return list, err
}

func failOrphan(u *unit.Unit, d *parley.Delivery) error {
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	return deliveries.End(u, d, parley.DeliveryFailed, deliveries.RemovedError(recipient))
}

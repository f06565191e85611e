package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

const dueBatch = 100

func (h *Hub) sweepOften(ctx context.Context, started func()) {
	h.regularly(ctx, started, h.config.DueEvery, func(ctx context.Context) error {
		if err := h.recovered(ctx); err != nil {
			return err
		}
		return errors.Join(
			h.SweepDeliveries(ctx), h.SweepWaits(ctx), h.SweepTasks(ctx), h.SweepAttendance(ctx), h.SweepHalts(ctx), h.SweepBudgets(ctx),
			h.SweepApprovals(ctx),
		)
	})
}

// SweepDeliveries does what is due with time for deliveries: leases that lapse, pauses that end, and
// messages that expire, are overdue or late.
func (h *Hub) SweepDeliveries(ctx context.Context) error {
	return errors.Join(
		h.sweepEach(ctx, (*scene).lapsed, (*scene).lapse),
		h.sweepEach(ctx, (*scene).due, (*scene).fallDue),
	)
}

// sweepEach does something to all deliveries that find returns, in small updates, so that nobody waits
// for it. While there are none it only reads.
func (h *Hub) sweepEach(ctx context.Context, find func(*scene, int) ([]parley.Delivery, error), do func(*scene, *parley.Delivery) error) error {
	for {
		var list []parley.Delivery
		err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
			list, err = find(s, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = h.write(ctx, theHub, opItself, func(s *scene) (err error) {
			if list, err = find(s, dueBatch); err != nil {
				return err
			}
			return s.eachDue(list, do)
		})
		if err != nil || len(list) < dueBatch {
			return err
		}
	}
}

// eachDue does something to deliveries, but for those that have moved with another of them.
func (s *scene) eachDue(list []parley.Delivery, do func(*scene, *parley.Delivery) error) error {
	for _, found := range list {
		d, err := s.Deliveries().Get(found.Message, found.Recipient)
		switch {
		case errors.Is(err, parley.ErrNotFound) && found.Damage != nil: // it has no id by which it could be found
			err = s.endDamaged(&found, found.Damage.Err())
		case err == nil && d.State == found.State && d.Attempt == found.Attempt && d.Lease == found.Lease:
			err = do(s, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) lapsed(limit int) ([]parley.Delivery, error) {
	now, err := s.Queue().Now()
	if err != nil {
		return nil, err
	}
	return s.Queue().Lapsed(now, limit)
}

// lapse ends a lease, or the pause before another try.
func (s *scene) lapse(d *parley.Delivery) error {
	if d.State == parley.DeliveryAccepted {
		after := *d
		after.Until = 0
		s.wake(d.Recipient)
		return s.keep(d, after)
	}
	if d.Lease == d.Run {
		return s.lapseRun(d)
	}
	return s.giveUp(d)
}

// giveUp gives back what somebody had who is gone.
func (s *scene) giveUp(d *parley.Delivery) error {
	lost := parley.Trouble{Failure: parley.FailureLost}
	return s.giveBack(d, lost.Failure, failed(d.Recipient, lost), 0)
}

// lapseRun ends the run that had a delivery, and with it all that it had: a run that kept a part of it would
// answer what another run is given.
func (s *scene) lapseRun(d *parley.Delivery) error {
	r, lives, err := s.runOf(*d)
	switch {
	case err != nil:
		return err
	case lives:
		return s.lose(&r)
	default:
		return s.giveUp(d)
	}
}

func (s *scene) due(limit int) ([]parley.Delivery, error) { return s.Queue().Due(s.now, limit) }

// fallDue does what the wall clock asks for, each at most once.
func (s *scene) fallDue(d *parley.Delivery) error {
	if d.State == parley.DeliveryAccepted && d.ExpiresAt != nil && !d.ExpiresAt.After(s.now) {
		return s.expire(d)
	}
	after := *d
	after.Late = after.Late || d.Awaited() && !d.Deadline.After(s.now)
	after.Overdue = after.Overdue || d.Unseen() && !d.OverdueAt().After(s.now)
	late, overdue := after.Late && !d.Late, after.Overdue && !d.Overdue
	if err := s.keep(d, after); err != nil {
		return err
	}
	if overdue {
		err := s.missed(*d, parley.EventOverdue,
			parley.Errorf(parley.TimedOut, "%s has not seen this for %s", d.Recipient, brief(d.Priority.Due())).Suggest("%s", s.whyUnseen(*d)))
		if err != nil {
			return err
		}
	}
	if late {
		acked, err := s.ackedBySight(*d)
		if err != nil || acked {
			return err
		}
		return s.missed(*d, parley.EventLate,
			parley.Errorf(parley.TimedOut, "%s has not answered this by %s", d.Recipient, d.Deadline.Format(time.RFC3339)).
				Suggest("it is still open: wait, or ask somebody else"))
	}
	return nil
}

// ackedBySight says that a delivery whose sender wants an ack has it: an agent that the hub runs gives none, but to see it.
func (s *scene) ackedBySight(d parley.Delivery) (bool, error) {
	if d.SeenAt == nil {
		return false, nil
	}
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil || !recipient.Dispatched() {
		return false, err
	}
	m, err := s.Messages().Get(d.Message)
	return err == nil && m.RequiresAck, ignoreNotFound(err)
}

func brief(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
}

func (s *scene) whyUnseen(d parley.Delivery) string {
	recipient, err := s.Agents().Find(d.Recipient)
	if err == nil && recipient.Asleep(s.now) {
		return "it sleeps until " + recipient.SleepingUntil.Format(time.RFC3339)
	}
	if why, ok, err := s.mayStart(recipient); err == nil && !ok {
		return "it is " + why + "; until that ends, this stays in its inbox"
	}
	return "it stays in its inbox; see whether it is running"
}

// missed notes that a time has passed and tells the sender. The delivery stays open.
func (s *scene) missed(d parley.Delivery, kind parley.EventKind, cause *parley.Error) error {
	if err := s.noteDelivery(kind, d); err != nil {
		return err
	}
	return s.tell(d, cause, false)
}

func (s *scene) expire(d *parley.Delivery) error {
	return s.end(d, parley.DeliveryExpired, parley.Errorf(parley.TimedOut, "this expired before %s took it", d.Recipient).
		Suggest("send it again with a longer ttl, or none"))
}

// failOrphaned fails what was on its way to those who were removed. Their removal does it; a sweep does
// what a crash has left.
func (h *Hub) failOrphaned(ctx context.Context) error {
	var ids []string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		ids, err = tx.Queue().Orphaned()
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = h.sweepEach(ctx, func(s *scene, limit int) ([]parley.Delivery, error) { return s.openFor(id, limit) }, (*scene).orphan)
		}
	}
	return err
}

// openFor is open deliveries to a participant.
func (s *scene) openFor(id string, limit int) ([]parley.Delivery, error) {
	list, err := s.Queue().Held(id, 0, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil || len(list) >= limit {
			break
		}
		var more []parley.Delivery
		more, err = s.Queue().Ready(parley.Queue{Recipient: id, Wakes: wakes, Limit: limit - len(list)})
		list = append(list, more...)
	}
	return list, err
}

func (s *scene) orphan(d *parley.Delivery) error {
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	return s.end(d, parley.DeliveryFailed, removed(recipient))
}

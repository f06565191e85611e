package upkeep

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	quietPage        = 500
	maxQuietPerSweep = 5000 // how many deliveries that wake nobody a sweep looks at
)

// endDamagedWork ends the asks and tasks whose deliveries are damaged such that nobody is woken for them any more: the
// damaged row would not be read again, and whoever waits would wait for ever. It also looks at some of the deliveries that
// wake nobody, each time at others: a callback may be among them that was to wake somebody.
func (s *Service) endDamagedWork(ctx context.Context) error {
	var found []parley.Damage
	err := s.Store.View(ctx, func(tx storage.Tx) (err error) {
		found, err = tx.Queue().DamagedWork()
		return err
	})
	if err == nil {
		err = s.endAllDamaged(ctx, found)
	}
	if err != nil {
		return err
	}
	return s.endDamagedQuiet(ctx)
}

func (s *Service) endDamagedQuiet(ctx context.Context) error {
	for range maxQuietPerSweep / quietPage {
		var (
			found []parley.Damage
			last  storage.QuietMark
		)
		err := s.Store.View(ctx, func(tx storage.Tx) (err error) {
			found, last, err = tx.Queue().DamagedQuiet(s.quiet, quietPage)
			return err
		})
		if err == nil {
			err = s.endAllDamaged(ctx, found)
		}
		if err != nil {
			return err
		}
		if s.quiet = last; last.Agent == 0 {
			return nil // the next sweep begins anew
		}
	}
	return nil
}

func (s *Service) endAllDamaged(ctx context.Context, found []parley.Damage) error {
	if len(found) == 0 {
		return nil
	}
	defer alerts.LookForDamage(ctx, s.alerts)
	for part := range slices.Chunk(found, deliveries.DueBatch) {
		err := s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
			for _, d := range part {
				if err := endDamagedMessage(u, d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endDamagedMessage ends the damaged deliveries of a message, and what waits for one of them. A row may be too damaged to be
// anybody's, so that only what waits can be ended.
func endDamagedMessage(u *unit.Unit, found parley.Damage) error {
	list, err := u.Deliveries().Of(found.ID)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	for _, d := range list {
		if d.Damage != nil && d.Open() {
			if err := work.EndDamaged(u, &d, found.Err()); err != nil {
				return err
			}
		}
	}
	if err := failDamagedAsk(u, found); err != nil {
		return err
	}
	m, err := u.Messages().Get(found.ID)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	if m.Task == "" && m.Damage == nil && m.From == parley.System && m.Type == parley.TypeResult {
		return repeatCallback(u, m)
	}
	return failDamagedTasks(u, m, found)
}

// repeatCallback repeats a callback outside of any task whose delivery is damaged: nothing else would tell its recipient.
func repeatCallback(u *unit.Unit, m parley.Message) error {
	to, err := u.Agents().Find(m.To)
	if err != nil || to.RemovedAt != nil {
		return err
	}
	if whole, err := hasIntactDelivery(u, m.ID, to.ID); err != nil || whole {
		return err
	}
	_, err = messages.Utter(u, parley.Message{
		From: m.From, To: m.To, Conversation: m.Conversation, Type: m.Type, Source: m.Source, InReplyTo: m.InReplyTo, TraceID: m.TraceID,
		Hops: m.Hops, Content: m.Content, Payload: m.Payload, Metadata: m.Metadata,
	}, parley.Reach{Agent: to.ID, Wakes: true, Purpose: parley.PurposeCallback})
	return err
}

// failDamagedAsk ends the ask that a message makes, unless its recipient can still be handed the message, or works on it.
func failDamagedAsk(u *unit.Unit, found parley.Damage) error {
	w, err := u.Waits().Ask(found.ID)
	if err != nil || w.State.Ended() || w.Work != "" {
		return unit.IgnoreNotFound(err)
	}
	if whole, err := hasIntactDelivery(u, found.ID, w.Target); err != nil || whole {
		return err
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return work.EndAsk(u, w, "", work.FailedToRespond(target, work.Reason(found.Err(), target.ID)))
}

// hasIntactDelivery says that a delivery of a message to somebody is whole and has not ended.
func hasIntactDelivery(u *unit.Unit, message, recipient string) (bool, error) {
	d, err := u.Deliveries().Get(message, recipient)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return d.Damage == nil && !d.State.Settled() && d.State != parley.DeliveryDead, err
}

// failDamagedTasks fails the task that a message has begun, and the one that it was to go on with, where nothing else goes
// on for them. Who is not run by the hub ends its tasks itself, unless it has not been handed the request.
func failDamagedTasks(u *unit.Unit, m parley.Message, found parley.Damage) error {
	begun, err := work.TaskBegunBy(u, found.ID)
	if err != nil {
		return err
	}
	for _, id := range []string{begun, m.Task} {
		if id == "" {
			continue
		}
		if err := failDamagedTask(u, id, found); err != nil {
			return err
		}
	}
	return nil
}

func failDamagedTask(u *unit.Unit, id string, found parley.Damage) error {
	t, err := u.Tasks().Get(id)
	if err != nil || t.Status.Ended() {
		return unit.IgnoreNotFound(err)
	}
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	if !assignee.Dispatched() {
		handed, err := hasRequest(u, t, found.ID)
		if err != nil || handed {
			return err
		}
	}
	return work.FailUnlessOn(u, t, work.Because(*found.Err(), t.Assignee))
}

// hasRequest says that the assignee of a task has its request, or can still be handed it.
func hasRequest(u *unit.Unit, t parley.Task, request string) (bool, error) {
	if t.Message != request || t.Status != parley.TaskQueued {
		return true, nil
	}
	return hasIntactDelivery(u, request, t.Assignee)
}

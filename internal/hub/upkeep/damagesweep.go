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
	maxQuietPerSweep = 5000 // how many deliveries that wake nobody one sweep looks at
)

// endDamagedWork ends the asks and tasks whose deliveries are damaged so that they wake nobody. The hub would not read a
// damaged row again, and its sender would wait forever. It also looks at some deliveries that wake nobody, at others in each
// sweep, because a damaged callback may be among them.
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
			return nil // the next sweep starts from the beginning
		}
	}
	return nil
}

func (s *Service) endAllDamaged(ctx context.Context, found []parley.Damage) error {
	if len(found) == 0 {
		return nil
	}
	defer alerts.CollectDamage(ctx, s.alerts)
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

// endDamagedMessage ends the damaged deliveries of a message, and the ask or the tasks that wait for one of them. A damaged row
// may have lost its recipient; then only the ask and the tasks can end.
func endDamagedMessage(u *unit.Unit, found parley.Damage) error {
	list, err := u.Deliveries().OfMessage(found.ID)
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

// repeatCallback sends a callback again if its delivery is damaged and no task reports it, because nothing else would tell its
// recipient.
func repeatCallback(u *unit.Unit, m parley.Message) error {
	to, err := u.Agents().Find(m.To)
	if err != nil || to.RemovedAt != nil {
		return err
	}
	if intact, err := hasIntactDelivery(u, m.ID, to.ID); err != nil || intact {
		return err
	}
	_, err = messages.PostUnsent(u, parley.Message{
		From: m.From, To: m.To, Conversation: m.Conversation, Type: m.Type, Source: m.Source, InReplyTo: m.InReplyTo, TraceID: m.TraceID,
		Hops: m.Hops, Content: m.Content, Payload: m.Payload, Metadata: m.Metadata,
	}, parley.NewDelivery{Agent: to.ID, Wakes: true, Purpose: parley.PurposeCallback})
	return err
}

// failDamagedAsk ends the ask that a message makes, unless its recipient still works on it or can still get the message.
func failDamagedAsk(u *unit.Unit, found parley.Damage) error {
	w, err := u.Waits().Ask(found.ID)
	if err != nil || w.State.Ended() || w.AnswerTask != "" {
		return unit.IgnoreNotFound(err)
	}
	if intact, err := hasIntactDelivery(u, found.ID, w.Target); err != nil || intact {
		return err
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return work.EndAsk(u, w, "", work.NoResponseError(target, work.PlainReason(found.Err(), target.ID)))
}

// hasIntactDelivery reports whether a recipient has an undamaged delivery of a message that has not ended.
func hasIntactDelivery(u *unit.Unit, message, recipient string) (bool, error) {
	d, err := u.Deliveries().Get(message, recipient)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return d.Damage == nil && !d.State.Settled() && d.State != parley.DeliveryDead, err
}

// failDamagedTasks fails the task that a message has begun, and the task that it should continue, unless other work continues
// them. An agent that the hub does not run ends its tasks itself, unless it never got the request.
func failDamagedTasks(u *unit.Unit, m parley.Message, found parley.Damage) error {
	begun, err := work.FindBegunTask(u, found.ID)
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
	return work.FailUnlessGoingOn(u, t, work.FailureWithoutName(*found.Err(), t.Assignee))
}

// hasRequest reports whether the assignee of a task has its request, or can still get it.
func hasRequest(u *unit.Unit, t parley.Task, request string) (bool, error) {
	if t.Message != request || t.Status != parley.TaskQueued {
		return true, nil
	}
	return hasIntactDelivery(u, request, t.Assignee)
}

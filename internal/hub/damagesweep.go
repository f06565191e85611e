package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

const (
	quietPage   = 500
	quietLooked = 5000 // how many deliveries that wake nobody a sweep looks at
)

// endDamagedWork ends the asks and tasks whose deliveries are damaged such that nobody is woken for them any more: the
// damaged row would not be read again, and whoever waits would wait for ever. It also looks at some of the deliveries that
// wake nobody, each time at others: a callback may be among them that was to wake somebody.
func (h *Hub) endDamagedWork(ctx context.Context) error {
	var found []parley.Damage
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		found, err = tx.Queue().DamagedWork()
		return err
	})
	if err == nil {
		err = h.endAllDamaged(ctx, found)
	}
	if err != nil {
		return err
	}
	return h.endDamagedQuiet(ctx)
}

func (h *Hub) endDamagedQuiet(ctx context.Context) error {
	for range quietLooked / quietPage {
		var (
			found []parley.Damage
			last  parley.QuietMark
		)
		err := h.store.View(ctx, func(tx parley.Tx) (err error) {
			found, last, err = tx.Queue().DamagedQuiet(h.quiet, quietPage)
			return err
		})
		if err == nil {
			err = h.endAllDamaged(ctx, found)
		}
		if err != nil {
			return err
		}
		if h.quiet = last; last.Agent == 0 {
			return nil // the next sweep begins anew
		}
	}
	return nil
}

func (h *Hub) endAllDamaged(ctx context.Context, found []parley.Damage) error {
	if len(found) == 0 {
		return nil
	}
	defer h.lookForDamage(ctx)
	for part := range slices.Chunk(found, dueBatch) {
		err := h.write(ctx, theHub, opItself, func(s *scene) error {
			for _, d := range part {
				if err := s.endWithDamage(d); err != nil {
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

// endWithDamage ends the damaged deliveries of a message, and what waits for one of them. A row may be too damaged to be
// anybody's, so that only what waits can be ended.
func (s *scene) endWithDamage(found parley.Damage) error {
	list, err := s.Deliveries().Of(found.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	for _, d := range list {
		if d.Damage != nil && d.Open() {
			if err := s.endDamaged(&d, found.Err()); err != nil {
				return err
			}
		}
	}
	if err := s.failDamagedAsk(found); err != nil {
		return err
	}
	m, err := s.Messages().Get(found.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	if m.Task == "" && m.Damage == nil && m.From == parley.System && m.Type == parley.TypeResult {
		return s.callBackAgain(m)
	}
	return s.failDamagedTasks(m, found)
}

// callBackAgain repeats a callback outside of any task whose delivery is damaged: nothing else would tell its recipient.
func (s *scene) callBackAgain(m parley.Message) error {
	to, err := s.Agents().Find(m.To)
	if err != nil || to.RemovedAt != nil {
		return err
	}
	if whole, err := s.hasWhole(m.ID, to.ID); err != nil || whole {
		return err
	}
	_, err = s.utter(parley.Message{
		From: m.From, To: m.To, Conversation: m.Conversation, Type: m.Type, Source: m.Source, InReplyTo: m.InReplyTo, TraceID: m.TraceID,
		Hops: m.Hops, Content: m.Content, Payload: m.Payload, Metadata: m.Metadata,
	}, parley.Reach{Agent: to.ID, Wakes: true, Purpose: parley.PurposeCallback})
	return err
}

// failDamagedAsk ends the ask that a message makes, unless its recipient can still be handed the message, or works on it.
func (s *scene) failDamagedAsk(found parley.Damage) error {
	w, err := s.Waits().Ask(found.ID)
	if err != nil || w.State.Ended() || w.Work != "" {
		return ignoreNotFound(err)
	}
	if whole, err := s.hasWhole(found.ID, w.Target); err != nil || whole {
		return err
	}
	target, err := s.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return s.endAsk(w, "", failedToRespond(target, reason(found.Err(), target.ID)))
}

// hasWhole says that a delivery of a message to somebody is whole and has not ended.
func (s *scene) hasWhole(message, recipient string) (bool, error) {
	d, err := s.Deliveries().Get(message, recipient)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return d.Damage == nil && !d.State.Settled() && d.State != parley.DeliveryDead, err
}

// failDamagedTasks fails the task that a message has begun, and the one that it was to go on with, where nothing else goes
// on for them. Who is not run by the hub ends its tasks itself, unless it has not been handed the request.
func (s *scene) failDamagedTasks(m parley.Message, found parley.Damage) error {
	begun, err := s.taskBegunBy(found.ID)
	if err != nil {
		return err
	}
	for _, id := range []string{begun, m.Task} {
		if id == "" {
			continue
		}
		if err := s.failDamagedTask(id, found); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) failDamagedTask(id string, found parley.Damage) error {
	t, err := s.Tasks().Get(id)
	if err != nil || t.Status.Ended() {
		return ignoreNotFound(err)
	}
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	if !assignee.Dispatched() {
		handed, err := s.wasHanded(t, found.ID)
		if err != nil || handed {
			return err
		}
	}
	return s.failUnlessOn(t, because(*found.Err(), t.Assignee))
}

// wasHanded says that the assignee of a task has its request, or can still be handed it.
func (s *scene) wasHanded(t parley.Task, request string) (bool, error) {
	if t.Message != request || t.Status != parley.TaskQueued {
		return true, nil
	}
	return s.hasWhole(request, t.Assignee)
}

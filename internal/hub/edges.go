package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// blocked notes, until release is called, that the caller waits for what find has found, in which each wait says for
// whom and for what. It is E005 if that would close a circle. Whom nothing can wait for, people and who has no session,
// it lets be.
func (h *Hub) blocked(ctx context.Context, caller Caller, do op, wait time.Duration, find func(*scene) ([]parley.Wait, error)) (release func(), err error) {
	can := caller.Run != ""
	if !can {
		err = h.view(ctx, caller, do, func(s *scene) error {
			can = s.me.Kind == parley.KindAgent && !s.me.Dispatched()
			return nil
		})
	}
	if err != nil || !can {
		return func() {}, err
	}
	var made []parley.Wait
	err = h.write(ctx, caller, do, func(s *scene) error {
		o, err := s.origin(caller)
		if err == nil {
			made, err = find(s)
		}
		if err != nil {
			return err
		}
		return s.waitForAll(o, made, s.now.Add(wait))
	})
	if err != nil {
		return nil, err
	}
	return func() { h.unblocked(context.WithoutCancel(ctx), made) }, nil
}

// answersTo are the waits for the answers to a message that have not come.
func (s *scene) answersTo(message string) (list []parley.Wait, err error) {
	deliveries, err := s.Deliveries().Of(message)
	for _, d := range awaited(deliveries, parley.DeliveryAnswered) {
		list = append(list, parley.Wait{Message: message, Target: d.Recipient, Conversation: d.Conversation})
	}
	return list, err
}

// endOf is the wait for the end of a task that was delegated. While that waits for others itself, nobody has it yet.
func (s *scene) endOf(made parley.Contacted) ([]parley.Wait, error) {
	t, err := s.Tasks().Get(made.Task)
	if err != nil || t.Status.Ended() {
		return nil, err
	}
	if _, err := s.Messages().Get(t.Message); err != nil {
		return nil, ignoreNotFound(err) // its conversation was deleted
	}
	return []parley.Wait{{Message: t.Message, Target: t.Assignee, Conversation: made.Conversation}}, nil
}

// waitForAll makes waits of the caller.
func (s *scene) waitForAll(o origin, list []parley.Wait, until time.Time) error {
	for i := range list {
		w := &list[i]
		target, err := s.Agents().Find(w.Target)
		if err != nil {
			return err
		}
		if err := s.mayWait(o, target, w.Message); err != nil {
			return err
		}
		w.ID, w.Waiter, w.State, w.Since, w.Until = newID(), s.me.ID, parley.WaitWaiting, s.now, until
		s.attach(w, o)
		if err := s.Waits().Insert(*w); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return s.block(o.run)
}

// unblocked ends waits that are no asks. What is left of them after a crash, RecoverWaits ends.
func (h *Hub) unblocked(ctx context.Context, list []parley.Wait) {
	if len(list) == 0 {
		return
	}
	err := h.write(ctx, theHub, opItself, func(s *scene) error {
		for _, w := range list {
			if err := s.Waits().Erase(w.ID); err != nil && !errors.Is(err, parley.ErrNotFound) {
				return err
			}
		}
		return s.unblock(list[0].Run)
	})
	if err != nil {
		h.config.Log.Error("the end of a wait could not be written down", "message", list[0].Message, "error", err)
	}
}

// awaitTask waits for the end of a task that was delegated. When the time is up, the caller is told what it would
// have been without waiting.
func (h *Hub) awaitTask(ctx context.Context, who waiter, made parley.Contacted, wait time.Duration) (parley.Contacted, error) {
	release, err := h.blocked(ctx, who.Caller, opContact, wait, func(s *scene) ([]parley.Wait, error) { return s.endOf(made) })
	if err != nil {
		return made, err
	}
	defer release()
	var t parley.Task
	err = h.await(ctx, made.Task, wait, func() (bool, error) {
		err := h.view(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) (err error) {
			t, err = s.Tasks().Get(made.Task)
			return err
		})
		return t.Status.Ended(), err
	})
	switch {
	case errors.Is(err, errWaited):
		return made, nil
	case ctx.Err() != nil:
		return made, h.explain(ctx, who.Caller, ctx.Err())
	case err != nil:
		return made, err
	}
	if err := h.bring(ctx, who, brought{callback: t.Callback}); err != nil {
		return made, err
	}
	return h.taskOutcome(ctx, t, made)
}

// taskOutcome is how a task has ended, for whoever has waited for it.
func (h *Hub) taskOutcome(ctx context.Context, t parley.Task, made parley.Contacted) (parley.Contacted, error) {
	var assignee parley.Agent
	err := h.view(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) (err error) {
		assignee, err = s.Agents().Find(t.Assignee)
		return err
	})
	switch {
	case err != nil:
		return made, err
	case t.Status == parley.TaskCompleted:
		if t.Result == nil {
			return made.Answered(assignee, ""), nil
		}
		return made.Answered(assignee, t.Result.Text), nil
	}
	code, why := parley.DependencyFailed, string(t.Status)
	if t.Error != nil {
		why = t.Error.Plain()
		if t.Error.Code == parley.TimedOut { // its own deadline has passed
			code = parley.TimedOut
		}
	}
	return made, parley.Errorf(code, "%s failed to complete the task: %s", assignee.Name, why).
		Suggest("see it: parley task show %s", t.ID)
}

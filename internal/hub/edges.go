package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// blocked notes, until release is called, that the caller waits for the answers to a message that there are none of
// yet. It is E005 if that would close a circle. Whom nothing can wait for, people and who has no session, it lets be.
func (h *Hub) blocked(ctx context.Context, caller Caller, message string, wait time.Duration) (release func(), err error) {
	can := caller.Run != ""
	if !can {
		err = h.view(ctx, caller, func(s *scene) error {
			can = s.me.Kind == parley.KindAgent && !s.me.Dispatched()
			return nil
		})
	}
	if err != nil || !can {
		return func() {}, err
	}
	var made []parley.Wait
	err = h.write(ctx, caller, func(s *scene) error {
		made = nil
		o, err := s.origin(caller)
		if err != nil {
			return err
		}
		made, err = s.waitForAll(o, message, s.now.Add(wait))
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() { h.unblocked(context.WithoutCancel(ctx), made) }, nil
}

// waitForAll makes a wait for each answer to a message that has not come.
func (s *scene) waitForAll(o origin, message string, until time.Time) (made []parley.Wait, err error) {
	list, err := s.Deliveries().Of(message)
	if err != nil {
		return nil, err
	}
	for _, d := range awaited(list, parley.DeliveryAnswered) {
		target, err := s.Agents().Find(d.Recipient)
		if err != nil {
			return nil, err
		}
		if err := s.mayWait(o, target, message); err != nil {
			return nil, err
		}
		w := parley.Wait{
			ID: newID(), Message: message, Waiter: s.me.ID, Target: target.ID, State: parley.WaitWaiting, Conversation: d.Conversation,
		}
		s.attach(&w, o, until)
		if err := s.Waits().Insert(w); err != nil {
			return nil, err
		}
		made = append(made, w)
	}
	if len(made) == 0 {
		return nil, nil
	}
	return made, s.block(o.run)
}

// unblocked ends waits that are no asks. What is left of them after a crash, RecoverWaits ends.
func (h *Hub) unblocked(ctx context.Context, list []parley.Wait) {
	if len(list) == 0 {
		return
	}
	err := h.write(ctx, theHub, func(s *scene) error {
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
func (h *Hub) awaitTask(ctx context.Context, caller Caller, made parley.Contacted, wait time.Duration) (parley.Contacted, error) {
	release, err := h.blocked(ctx, caller, made.Message, wait)
	if err != nil {
		return made, err
	}
	defer release()
	var t parley.Task
	err = h.await(ctx, made.Task, wait, func() (bool, error) {
		err := h.view(context.WithoutCancel(ctx), theHub, func(s *scene) (err error) {
			t, err = s.Tasks().Get(made.Task)
			return err
		})
		return t.Status.Ended(), err
	})
	switch {
	case errors.Is(err, errWaited):
		return made, nil
	case ctx.Err() != nil:
		return made, h.explain(ctx, caller, ctx.Err())
	case err != nil:
		return made, err
	}
	return h.taskOutcome(ctx, t, made)
}

// taskOutcome is how a task has ended, for whoever has waited for it.
func (h *Hub) taskOutcome(ctx context.Context, t parley.Task, made parley.Contacted) (parley.Contacted, error) {
	var assignee parley.Agent
	err := h.view(context.WithoutCancel(ctx), theHub, func(s *scene) (err error) {
		assignee, err = s.Agents().Find(t.Assignee)
		return err
	})
	switch {
	case err != nil:
		return made, err
	case t.Status == parley.TaskCompleted:
		made.Outcome, made.Text = parley.ContactAnswered, responseFrom(assignee, "")
		if t.Result != nil {
			made.Text = responseFrom(assignee, t.Result.Text)
		}
		return made, nil
	}
	why := string(t.Status)
	if t.Error != nil {
		why = t.Error.Message
	}
	return made, parley.Errorf(parley.DependencyFailed, "%s failed to complete the task: %s", assignee.Name, why).
		Suggest("see it: parley task show %s", t.ID)
}

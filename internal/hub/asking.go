package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// waiter is the participant that waits in a call.
type waiter struct {
	Caller
	id     string
	person bool
}

func (s *scene) waiter(caller Caller) waiter {
	return waiter{caller, s.me.ID, s.me.Kind == parley.KindHuman}
}

// awaitAnswer waits for the answer to an ask that is stored. Exactly one of these is what the caller gets: the
// answer, the failure, or that the time is up; which, the wait in the store says.
func (h *Hub) awaitAnswer(ctx context.Context, who waiter, w parley.Wait, made parley.Contacted) (parley.Contacted, error) {
	var now tidings
	err := h.await(ctx, w.ID, w.Until.Sub(h.now()), func() (done bool, err error) {
		now, err = h.hear(ctx, w)
		return now.State != parley.WaitWaiting, err
	})
	switch {
	case errors.Is(err, errWaited):
		now, err = h.changeWait(ctx, w, (*scene).tooLate)
	case errors.Is(err, errGone):
		return made, h.conversationGone(ctx, w, made)
	case ctx.Err() != nil:
		if now, err = h.changeWait(ctx, w, (*scene).detach); err == nil && !now.State.Ended() {
			err = h.explain(ctx, Caller{}, ctx.Err())
		}
	}
	if err == nil {
		err = h.bring(ctx, who, brought{callback: now.Callback, answers: []string{now.Answer}})
	}
	if err != nil {
		return made, err
	}
	return now.outcome(w, made)
}

// settleCallback acknowledges the callback of an answer that the participant has just got inline, so that it gets it once.
func (h *Hub) settleCallback(ctx context.Context, message, who string) error {
	return h.write(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) error {
		d, err := s.Deliveries().Get(message, who)
		untouched := d.State == parley.DeliveryAccepted || d.State == parley.DeliveryDelivered && d.Lease == ""
		if err != nil || !untouched {
			return ignoreNotFound(err) // a run or session that has taken it settles it
		}
		return s.move(&d, parley.DeliveryAcked, nil)
	})
}

// tidings are how far a wait has come, with what is needed to tell whoever waits.
type tidings struct {
	parley.Wait
	target parley.Agent
	text   string // of the answer
}

// tidings reads what there is to tell of a wait.
func (s *scene) tidings(w parley.Wait) (now tidings, err error) {
	now.Wait = w
	if w.State == parley.WaitWaiting {
		return now, nil
	}
	now.target, now.text, err = s.answerTo(w)
	return now, err
}

var (
	errWaited = errors.New("the time is up")
	errGone   = errors.New("what was waited for is gone")
)

// await waits until done, which is asked whenever a wait, or a task, has moved. errWaited when the
// time is up, the error of the context when that ends.
func (h *Hub) await(ctx context.Context, about string, wait time.Duration, done func() (bool, error)) error {
	moved, leave := h.watches.join(about)
	defer leave()
	poll, end := time.NewTicker(awaitPoll), time.NewTimer(wait)
	defer poll.Stop()
	defer end.Stop()
	for {
		// Looked at after joining, so that nothing falls between.
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-poll.C:
		case <-end.C:
			return errWaited
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hear reads a wait again. errGone if its conversation was deleted.
func (h *Hub) hear(ctx context.Context, w parley.Wait) (now tidings, err error) {
	gone := false
	err = h.view(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) error {
		w, err := s.Waits().Ask(w.Message)
		if gone = errors.Is(err, parley.ErrNotFound); gone {
			return nil
		}
		if err == nil {
			now, err = s.tidings(w)
		}
		return err
	})
	if gone {
		return now, errGone
	}
	return now, err
}

// changeWait does something to a wait as it is now, whether or not the caller is still there.
func (h *Hub) changeWait(ctx context.Context, w parley.Wait, do func(*scene, *parley.Wait) error) (now tidings, err error) {
	err = h.write(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) error {
		w, err := s.Waits().Ask(w.Message)
		if err == nil {
			err = do(s, &w)
		}
		if err == nil {
			now, err = s.tidings(w)
		}
		return err
	})
	return now, err
}

// conversationGone is what a caller is told whose question was deleted with its conversation.
func (h *Hub) conversationGone(ctx context.Context, w parley.Wait, made parley.Contacted) error {
	var target parley.Agent
	err := h.write(context.WithoutCancel(ctx), theHub, opItself, func(s *scene) (err error) {
		if target, err = s.Agents().Find(made.Agent); err != nil {
			return err
		}
		return s.unblock(w.Run)
	})
	if err != nil {
		return err
	}
	return lostError(target)
}

// outcome is what a wait that is over means for whoever began it.
func (now tidings) outcome(begun parley.Wait, made parley.Contacted) (parley.Contacted, error) {
	switch {
	case now.State == parley.WaitAnswered:
		made.Answer = now.Answer
		return made.Answered(now.target, now.text), nil
	case now.Failure != nil:
		return made, now.Failure
	case now.State == parley.WaitAbandoned:
		return made, runOver(begun.Run)
	default:
		if now.Until.Before(begun.Until) { // it could not be waited for any longer
			begun.Until = now.Until
		}
		late := lateError(now.target.Name, begun)
		made.Outcome, made.Text = parley.ContactLate, late.Message
		return made, late
	}
}

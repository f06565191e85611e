package contact

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Waiter is the participant that waits in a call.
type Waiter struct {
	unit.Caller
	id     string
	person bool
}

// NewWaiter returns the caller as a participant that waits for an answer.
func NewWaiter(u *unit.Unit, caller unit.Caller) Waiter {
	return Waiter{caller, u.Me.ID, u.Me.Kind == parley.KindHuman}
}

// awaitAnswer waits for the answer to a stored ask. The caller gets exactly one of three results: the answer, the failure, or a
// timeout. The wait in the store decides which.
func awaitAnswer(ctx context.Context, core *unit.Core, waiter Waiter, w parley.Wait, contacted parley.Contacted) (parley.Contacted, error) {
	var now work.AskOutcome
	callers := "callers of " + w.ID // apart from those who only watch the ask
	_, hangUp := core.Watches.Join(callers)
	err := core.Await(ctx, w.ID, w.Until.Sub(core.Now()), func() (done bool, err error) {
		now, err = ReadAskOutcome(ctx, core, w)
		return now.State != parley.WaitWaiting, err
	})
	hangUp()
	switch {
	case errors.Is(err, unit.ErrWaited):
		now, err = updateWait(ctx, core, w, work.MakeWaitLate)
	case errors.Is(err, unit.ErrGone):
		return contacted, ConversationDeleted(ctx, core, w, contacted)
	case ctx.Err() != nil && core.Watches.Watchers(callers) > 0:
		// The same call waits on another connection, with its idempotency key. The ask stays its own.
		err = core.Explain(ctx, unit.Caller{}, ctx.Err())
	case ctx.Err() != nil:
		if now, err = updateWait(ctx, core, w, work.Detach); err == nil && !now.State.Ended() {
			err = core.Explain(ctx, unit.Caller{}, ctx.Err())
		}
	}
	if err == nil {
		err = SettleOutcome(ctx, core, waiter, unit.ReturnedMessages{Callback: now.Callback, Answers: []string{now.Answer}})
	}
	if err != nil {
		return contacted, err
	}
	return now.Outcome(w, contacted)
}

// settleCallback acknowledges the callback of an answer that a call has just returned to the participant, so that the
// participant gets the answer once.
func settleCallback(ctx context.Context, core *unit.Core, message, waiter string) error {
	return core.Write(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		d, err := u.Deliveries().Get(message, waiter)
		untouched := d.State == parley.DeliveryAccepted || d.State == parley.DeliveryDelivered && d.Lease == ""
		if err != nil || !untouched {
			return unit.IgnoreNotFound(err) // the run or session that has taken it settles it
		}
		return deliveries.SetState(u, &d, parley.DeliveryAcked, nil)
	})
}

// ReadAskOutcome reads the outcome of an ask again. It returns unit.ErrGone if the conversation of the ask was deleted.
func ReadAskOutcome(ctx context.Context, core *unit.Core, w parley.Wait) (now work.AskOutcome, err error) {
	removed := false
	err = core.View(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		w, err := u.Waits().Ask(w.Message)
		if removed = errors.Is(err, parley.ErrNotFound); removed {
			return nil
		}
		if err == nil {
			now, err = work.FindOutcome(u, w)
		}
		return err
	})
	if removed {
		return now, unit.ErrGone
	}
	return now, err
}

// updateWait changes the stored wait with do and returns its outcome. It works even if the caller has disconnected.
func updateWait(ctx context.Context, core *unit.Core, w parley.Wait, do func(*unit.Unit, *parley.Wait) error) (now work.AskOutcome, err error) {
	err = core.Write(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		w, err := u.Waits().Ask(w.Message)
		if err == nil {
			err = do(u, &w)
		}
		if err == nil {
			now, err = work.FindOutcome(u, w)
		}
		return err
	})
	return now, err
}

// ConversationDeleted unblocks a caller whose question was deleted with its conversation, and returns the error for it.
func ConversationDeleted(ctx context.Context, core *unit.Core, w parley.Wait, contacted parley.Contacted) error {
	var target parley.Agent
	err := core.Write(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		if target, err = u.Agents().Find(contacted.Agent); err != nil {
			return err
		}
		return work.Unblock(u, w.Run)
	})
	if err != nil {
		return err
	}
	return waits.LostError(target)
}

// SettleOutcome is called when a call returns the content of messages to the participant that waited for them. It settles the callback,
// so that the participant gets the outcome once, and marks the messages as shown to a person. If the caller has disconnected,
// it changes nothing: the outcome stays in the inbox.
func SettleOutcome(ctx context.Context, core *unit.Core, waiter Waiter, returned unit.ReturnedMessages) error {
	messages := slices.DeleteFunc(slices.Concat(returned.Answers, []string{returned.Callback}), func(id string) bool { return id == "" })
	if returned.Failed.From == waiter.id {
		messages = append(messages, returned.Failed.ID)
	}
	switch {
	case ctx.Err() != nil || len(messages) == 0:
		return nil
	case waiter.person && inbox.MarkShownInline(ctx, core, waiter.Caller, messages):
		return nil
	case returned.Callback == "":
		return nil
	}
	return settleCallback(ctx, core, returned.Callback, waiter.id)
}

package contact

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
)

// BlockCaller stores waits of the caller until release is called. find returns them, each with the participant and the message that
// the caller waits for. BlockCaller returns E005 if the waits would form a cycle. It stores nothing for people, and for an agent
// that the hub runs if the call comes from no run, because these can answer others while they wait.
func BlockCaller(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, wait time.Duration, find func(*unit.Unit) ([]parley.Wait, error)) (release func(), err error) {
	byRun := caller.Run != ""
	if !byRun {
		err = core.View(ctx, caller, do, func(u *unit.Unit) error {
			byRun = u.Me.Kind == parley.KindAgent && !u.Me.Dispatched()
			return nil
		})
	}
	if err != nil || !byRun {
		return func() {}, err
	}
	var made []parley.Wait
	err = core.Write(ctx, caller, do, func(u *unit.Unit) error {
		o, err := FindOrigin(u, caller)
		if err == nil {
			made, err = find(u)
		}
		if err != nil {
			return err
		}
		return storeWaits(u, o, made, u.Now.Add(wait))
	})
	if err != nil {
		return nil, err
	}
	return func() { releaseWaits(context.WithoutCancel(ctx), core, made) }, nil
}

// WaitsForAnswers returns a wait for each answer to a message that has not come yet.
func WaitsForAnswers(u *unit.Unit, message string) (list []parley.Wait, err error) {
	deliveries, err := u.Deliveries().OfMessage(message)
	for _, d := range NotReached(deliveries, parley.DeliveryAnswered) {
		list = append(list, parley.Wait{Message: message, Target: d.Recipient, Conversation: d.Conversation})
	}
	return list, err
}

// WaitForTaskEnd returns the wait for the end of a delegated task, or nothing if the task has ended or waits for other tasks itself.
func WaitForTaskEnd(u *unit.Unit, made parley.Contacted) ([]parley.Wait, error) {
	t, err := u.Tasks().Get(made.Task)
	if err != nil || t.Status.Ended() {
		return nil, err
	}
	if _, err := u.Messages().Get(t.Message); err != nil {
		return nil, unit.IgnoreNotFound(err) // its conversation was deleted
	}
	return []parley.Wait{{Message: t.Message, Target: t.Assignee, Conversation: made.Conversation}}, nil
}

// storeWaits completes waits of the caller and stores them.
func storeWaits(u *unit.Unit, o unit.Origin, list []parley.Wait, until time.Time) error {
	for i := range list {
		w := &list[i]
		target, err := u.Agents().Find(w.Target)
		if err != nil {
			return err
		}
		if err := waits.MayWait(u, o, target, w.Message); err != nil {
			return err
		}
		w.ID, w.Waiter, w.State, w.Since, w.Until = unit.NewID(), u.Me.ID, parley.WaitWaiting, u.Now, until
		attachWaiter(u, w, o)
		if err := waits.InsertRow(u.Tx, *w); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return work.Block(u, o.Run)
}

// releaseWaits erases waits that are no asks. After a crash, turns.RecoverWaits erases them.
func releaseWaits(ctx context.Context, core *unit.Core, list []parley.Wait) {
	if len(list) == 0 {
		return
	}
	err := core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		for _, w := range list {
			if err := waits.EraseRow(u.Tx, w.ID); err != nil && !errors.Is(err, parley.ErrNotFound) {
				return err
			}
		}
		return work.Unblock(u, list[0].Run)
	})
	if err != nil {
		core.Config.Log.Error("cannot erase a wait that has ended; the next start of the hub erases it", "message", list[0].Message, "error", err)
	}
}

// awaitTask waits for the end of a delegated task. If the time is up, it returns what a delegation without waiting returns.
func awaitTask(ctx context.Context, core *unit.Core, who Waiter, made parley.Contacted, wait time.Duration) (parley.Contacted, error) {
	release, err := BlockCaller(ctx, core, who.Caller, unit.OpContact, wait, func(u *unit.Unit) ([]parley.Wait, error) { return WaitForTaskEnd(u, made) })
	if err != nil {
		return made, err
	}
	defer release()
	var t parley.Task
	err = core.Await(ctx, made.Task, wait, func() (bool, error) {
		err := core.View(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			t, err = u.Tasks().Get(made.Task)
			return err
		})
		return t.Status.Ended(), err
	})
	switch {
	case errors.Is(err, unit.ErrWaited):
		return made, nil
	case ctx.Err() != nil:
		return made, core.Explain(ctx, who.Caller, ctx.Err())
	case err != nil:
		return made, err
	}
	if err := SettleOutcome(ctx, core, who, unit.ReturnedMessages{Callback: t.Callback}); err != nil {
		return made, err
	}
	return TaskOutcome(ctx, core, t, made)
}

// TaskOutcome returns the result or the error of an ended task.
func TaskOutcome(ctx context.Context, core *unit.Core, t parley.Task, made parley.Contacted) (parley.Contacted, error) {
	var assignee parley.Agent
	err := core.View(context.WithoutCancel(ctx), unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		assignee, err = u.Agents().Find(t.Assignee)
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
	code, reason := parley.DependencyFailed, string(t.Status)
	if t.Error != nil {
		reason = t.Error.Plain()
		if t.Error.Code == parley.TimedOut { // the task's own deadline has passed
			code = parley.TimedOut
		}
	}
	return made, parley.Errorf(code, "%s failed to complete the task: %s", assignee.Name, reason).
		Suggest("see the task: parley task show %s", t.ID)
}

// NotReached returns the deliveries of a message that have not reached a state. It looks at the waking deliveries only, or at all
// if none wakes.
func NotReached(list []parley.Delivery, state parley.DeliveryState) (short []parley.Delivery) {
	wakes := slices.ContainsFunc(list, func(d parley.Delivery) bool { return d.Waking })
	for _, d := range list {
		if d.Waking == wakes && !d.Reached(state) {
			short = append(short, d)
		}
	}
	return short
}

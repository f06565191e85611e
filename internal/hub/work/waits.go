package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// Block marks a run as waiting, so that it needs no slot.
func Block(u *unit.Unit, r *parley.Run) error {
	if r == nil || r.State == parley.RunWaiting {
		return nil
	}
	if r.State == parley.RunStarting {
		if err := runs.Begin(u, r, r.Process); err != nil {
			return err
		}
	}
	return runs.SetState(u, r, parley.RunWaiting, nil)
}

// Unblock marks a waiting run as running, unless it waits for something else too.
func Unblock(u *unit.Unit, run string) error {
	if run == "" {
		return nil
	}
	list, err := u.Waits().OfRun(run)
	if err != nil {
		return err
	}
	for _, w := range list {
		if w.Node != "" {
			return nil
		}
	}
	r, lives, err := runs.Lives(u, run)
	if err != nil || !lives || r.State != parley.RunWaiting {
		return err
	}
	return runs.SetState(u, &r, parley.RunRunning, nil)
}

// askEnded is called when the delivery of an ask has settled. It ends the ask, unless the ask is parked and the delivery has no answer.
func askEnded(u *unit.Unit, d parley.Delivery) error {
	w, err := u.Waits().Ask(d.Message)
	if errors.Is(err, parley.ErrNotFound) || err == nil && w.State.Ended() {
		return nil
	}
	if err != nil {
		return err
	}
	if d.State == parley.DeliveryAnswered {
		return EndAsk(u, w, d.Answer, nil)
	}
	if w.AnswerTask != "" {
		return nil // the ask ends with its task
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return EndAsk(u, w, "", UnansweredError(target, d))
}

// EndAsk ends an ask with its answer, or with the reason why there is none. The asker stops waiting, or gets a callback if
// the ask was late.
func EndAsk(u *unit.Unit, w parley.Wait, answer string, failure *parley.Error) error {
	to, before := parley.WaitAnswered, w
	if failure != nil {
		to = parley.WaitFailed
	}
	if err := waits.SetState(u, &w, to, func(w *parley.Wait) { w.Answer, w.Failure = answer, failure }); err != nil {
		return err
	}
	awaited, err := waits.Awaits(u, before)
	switch {
	case err != nil || before.State == parley.WaitAbandoned:
		return err
	case !awaited && before.State == parley.WaitWaiting && w.Approval != "" && w.Run == "":
		return nil // the approval was withdrawn, and no run asks
	case awaited:
		return tellWaiters(u, w, failure)
	default:
		return bringAnswer(u, w)
	}
}

// tellWaiters tells all that wait for an ask its outcome: a blocked run, and the approval that the ask was made for. Both may exist if
// an approved call is made again.
func tellWaiters(u *unit.Unit, w parley.Wait, failure *parley.Error) error {
	if err := Unblock(u, w.Run); err != nil || w.Approval == "" {
		return err
	}
	return ApprovedAskEnded(u, w, failure)
}

// bringAnswer sends the outcome of an ask, once, to an asker that no longer waits for it.
func bringAnswer(u *unit.Unit, w parley.Wait) error {
	request, err := u.Messages().Get(w.Message)
	if err = unit.IgnoreNotFound(err); err != nil { // the id of the message may be damaged
		return err
	}
	who, text, err := answerTo(u, w)
	if err != nil {
		return err
	}
	if text = responseFrom(who, text); w.Failure != nil {
		text = w.Failure.Sentence()
	}
	m, err := tellAsker(u, waits.Asked{Wait: w, Request: request}, text)
	if err != nil {
		return err
	}
	after := w
	after.Callback = m.ID
	return waits.Save(u, &w, after)
}

// tellAsker sends the asker a callback with the outcome, in the conversation that it asked from.
func tellAsker(u *unit.Unit, a waits.Asked, text string) (m parley.Message, err error) {
	c := reports.Callback{
		To: a.Waiter, Conversation: a.Conversation, About: a.Target, Source: waits.SourceAsk, Text: parley.Framed(a.Target, text),
		Trace: a.Request.TraceID, Hops: a.Request.Hops + 1, Purpose: parley.PurposeCallback,
	}
	if a.Conversation == a.Request.Conversation {
		c.InReplyTo = a.Request.ID
	}
	if err := setCallbackOrigin(u, a.Wait, &c); err != nil {
		return m, err
	}
	return reports.SendCallback(u, c)
}

// setCallbackOrigin sets the task of a callback, which the asking run may have been given since, and the message that the run was to
// answer.
func setCallbackOrigin(u *unit.Unit, w parley.Wait, c *reports.Callback) error {
	c.Task = w.Task
	if c.Task == "" && w.Approval != "" && w.Run == "" {
		a, err := u.Approvals().Get(w.Approval)
		if c.Task = a.Task; unit.IgnoreNotFound(err) != nil {
			return err
		}
	}
	r, err := u.Runs().Get(w.Run)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	unit.SetDefault(&c.Task, r.Task)
	about, err := reports.FindAnswered(u, r)
	if about.Conversation == c.Conversation {
		c.InReplyTo = about.ID
	}
	return err
}

// MakeWaitLate makes an ask late that has reached its time.
func MakeWaitLate(u *unit.Unit, w *parley.Wait) error { return makeLate(u, w, w.Until) }

// makeLate lets the asker go on at the time until; the hub will deliver the answer to it later.
func makeLate(u *unit.Unit, w *parley.Wait, until time.Time) error {
	if w.State != parley.WaitWaiting {
		return nil
	}
	if err := waits.SetState(u, w, parley.WaitLate, func(w *parley.Wait) { w.Until = until }); err != nil {
		return err
	}
	target, err := u.Agents().Find(w.Target)
	if err != nil {
		return err
	}
	return tellWaiters(u, *w, timeoutError(target.Name, *w))
}

// Detach is called when the asker is no longer connected. Outside of a run, and for a run that goes on, the hub delivers the answer
// when it comes. The waits of a run that has ended end too. The wait of an approval goes on.
func Detach(u *unit.Unit, w *parley.Wait) error {
	if w.State != parley.WaitWaiting || w.Node == "" {
		return nil
	}
	approvalWaits, err := waits.ApprovalWaits(u, *w)
	if err != nil {
		return err
	}
	if w.Run == "" && !approvalWaits {
		return MakeWaitLate(u, w)
	}
	after := *w
	after.Node = ""
	if err := waits.Save(u, w, after); err != nil {
		return err
	}
	return Unblock(u, w.Run)
}

// leave ends the waits of a run or participant that has ended. An ask becomes abandoned or late, as asks says, unless an approval waits
// for it too.
func leave(u *unit.Unit, list []parley.Wait, asks parley.WaitState) error {
	for i := range list {
		w := &list[i]
		approvalWaits, err := waits.ApprovalWaits(u, *w)
		switch {
		case err != nil:
		case !w.Ask:
			err = waits.EraseRow(u.Tx, w.ID)
		case approvalWaits && w.Run != "":
			if err = Detach(u, w); err == nil && asks == parley.WaitAbandoned { // now only the approval waits
				after := *w
				after.Run = ""
				err = waits.Save(u, w, after)
			}
		default:
			err = waits.SetState(u, w, asks, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freeWaits is called when a run has ended in any way, and ends its waits. If the run has ended well, it has only stopped waiting, like
// a program whose shell gives up early: the hub delivers the answer.
func freeWaits(u *unit.Unit, r parley.Run) error {
	list, err := u.Waits().OfRun(r.ID)
	if err != nil {
		return err
	}
	if r.State == parley.RunSucceeded {
		return leave(u, list, parley.WaitLate)
	}
	return leave(u, list, parley.WaitAbandoned)
}

// FreeWaitsOf ends the waits of a participant that was removed.
func FreeWaitsOf(u *unit.Unit, a parley.Agent) error {
	list, err := u.Waits().OfWaiter(a.ID)
	if err != nil {
		return err
	}
	return leave(u, list, parley.WaitAbandoned)
}

// FailAsks ends the open asks to an agent that cannot answer any more. An ask that a run works on ends with the run.
func FailAsks(u *unit.Unit, a parley.Agent, why parley.Trouble) error {
	list, err := waits.OpenAsks(u, a.ID)
	if err != nil {
		return err
	}
	return endUnanswerable(u, list, a, why)
}

// endUnanswerable ends those of the asks to an agent on which no run works.
func endUnanswerable(u *unit.Unit, list []parley.Delivery, a parley.Agent, why parley.Trouble) error {
	for i := range list {
		_, running, err := runs.RunOf(u, list[i])
		if err == nil && !running {
			err = deliveries.End(u, &list[i], parley.DeliveryFailed, deliveries.Failed(a.ID, why))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// FailAsksToAbsent ends the open asks to an agent that is away. An ask that the agent has taken ends with its lease: the agent may work
// on it without a sign.
func FailAsksToAbsent(u *unit.Unit, id string) error {
	a, err := u.Agents().Find(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (a.RemovedAt != nil || a.Dispatched()) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := waits.OpenAsks(u, a.ID)
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.Lease != "" })
	return endUnanswerable(u, waiting, a, parley.Trouble{Failure: parley.FailureLost, Reason: waits.WhyAway})
}

// TellAsksLost tells the askers that their asks were deleted with the conversation. A connected asker sees it in its call.
func TellAsksLost(u *unit.Unit, list []waits.Asked) error {
	for _, a := range list {
		if err := loseAsk(u, a); err != nil {
			return err
		}
	}
	return nil
}

// loseAsk tells one asker that its ask was deleted.
func loseAsk(u *unit.Unit, a waits.Asked) error {
	waiter, err := u.Agents().Find(a.Waiter)
	if err != nil || waiter.RemovedAt != nil {
		return err
	}
	target, err := u.Agents().Find(a.Target)
	if err != nil {
		return err
	}
	failure := waits.LostError(target)
	awaited, err := waits.Awaits(u, a.Wait)
	if err != nil {
		return err
	}
	if awaited {
		return tellWaiters(u, a.Wait, failure)
	}
	if a.State == parley.WaitWaiting && a.Approval != "" && a.Run == "" {
		return nil
	}
	_, err = tellAsker(u, a, failure.Sentence())
	return err
}

// RecoverWait ends a wait whose process has ended.
func RecoverWait(u *unit.Unit, w *parley.Wait) error {
	if w.Ask {
		return Detach(u, w)
	}
	if err := waits.EraseRow(u.Tx, w.ID); err != nil {
		return err
	}
	return Unblock(u, w.Run)
}

// EachWait calls do for all waits that find returns, in small transactions. While there are none it only reads.
func EachWait(ctx context.Context, core *unit.Core, find func(*unit.Unit, int) ([]parley.Wait, error), do func(*unit.Unit, *parley.Wait) error) error {
	for {
		var list []parley.Wait
		err := core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			list, err = find(u, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			list, err = find(u, deliveries.DueBatch)
			for i := range list {
				if err == nil {
					err = do(u, &list[i])
				}
			}
			return err
		})
		if err != nil || len(list) < deliveries.DueBatch {
			return err
		}
	}
}

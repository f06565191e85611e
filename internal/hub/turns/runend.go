package turns

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// FinishRun ends a run that has succeeded. In one update it posts the answer, and marks the triggers as answered, or as
// acknowledged if there is no answer. If somebody has cancelled the run, nothing is posted. If the answer cannot be posted, the
// run fails. A run that has ended before is returned as it is.
func (s *Service) FinishRun(ctx context.Context, run string, r parley.Result, output []byte) (parley.Run, error) {
	began := time.Now()
	where, err := conversationOf(ctx, s.Core, run)
	if err != nil {
		return parley.Run{}, err
	}
	p, err := post.ComposeAnswer(s.Core, run, where, r.Text)
	if err != nil {
		return s.FailRun(ctx, run, answerNotPosted(err), r, output)
	}
	var (
		posted  *parley.Message
		refused bool
	)
	ended, err := endRun(ctx, s.Core, run, r, output, func(u *unit.Unit, r *parley.Run, keep func(*parley.Run)) (err error) {
		posted, refused = nil, false
		if r.Cancel != "" {
			return endCancelled(u, r, keep)
		}
		posted, err = endSucceeded(u, r, p, keep)
		refused = err != nil
		return err
	})
	if refused && isFinal(err) {
		return s.FailRun(ctx, run, answerNotPosted(err), r, output)
	}
	if err == nil && posted != nil {
		s.ObserveWrite(began)
		s.Index.Posted(*posted)
	}
	return ended, err
}

// isFinal reports whether posting the answer would fail again: the answer itself was refused. A failure of the store is not
// final.
func isFinal(err error) bool {
	switch e := parley.AsError(err); e.Code {
	case parley.NotPermitted, parley.BadInput, parley.DependencyFailed:
		return true
	default:
		return errors.Is(err, messages.ErrInboxFull) || e.Reason == parley.Gone
	}
}

// answerNotPosted returns the failure of a run whose answer could not be posted.
func answerNotPosted(err error) *parley.RunError {
	e := parley.AsError(err)
	return &parley.RunError{
		Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: "the hub could not post its answer: " + e.Message}, Hint: e.Suggestion,
	}
}

// endSucceeded posts the answer of a run, settles the deliveries that woke it, and ends it.
func endSucceeded(u *unit.Unit, r *parley.Run, p post.Posting, keep func(*parley.Run)) (posted *parley.Message, err error) {
	switch r.State {
	case parley.RunStarting:
		err = runs.Begin(u, r, r.Process)
	case parley.RunWaiting:
		err = runs.SetState(u, r, parley.RunRunning, nil)
	}
	if err != nil {
		return nil, err
	}
	agent, err := u.Agents().Find(r.Agent)
	if err != nil {
		return nil, err
	}
	u.EndAs(agent)
	u = u.As(agent)
	ask, err := work.FindAnswerState(u, *r)
	if err != nil {
		return nil, err
	}
	if ask.GoesOn {
		p.Draft.Type = parley.TypeStatus
	}
	answer, posted, err := post.PostAnswer(u, *r, p)
	if err != nil {
		return nil, err
	}
	err = forEachLeased(u, *r, func(d *parley.Delivery) error {
		if ask.Parked && d.Purpose == parley.PurposeAsk { // the end of its task answers the ask, possibly much later
			return deliveries.SetState(u, d, parley.DeliveryAcked, nil)
		}
		return work.Settle(u, d, parley.Outcome{Answer: answer})
	})
	if err != nil {
		return nil, err
	}
	err = work.EndRun(u, r, parley.RunSucceeded, func(r *parley.Run) {
		keep(r)
		r.Answer = answer
	})
	if err != nil {
		return nil, err
	}
	return posted, work.TaskRunEnded(u, *r, p.Draft.Content.Text)
}

// FailRun ends a run that has failed. The hub retries deliveries whose failure is temporary, until the agent has no attempts
// left. If the run was stopped at once, the hub retries too, and no attempt counts. If the failure is final, the deliveries
// fail and the hub tells their senders. A run that has ended before is returned as it is.
func (s *Service) FailRun(ctx context.Context, run string, why *parley.RunError, r parley.Result, output []byte) (parley.Run, error) {
	trouble := why.Trouble
	trouble.After = min(max(0, trouble.After), deliveries.MaxAfter) // the pause comes from an API and may be any number
	trouble, err := deliveries.CheckTrouble(trouble)
	if err != nil {
		return parley.Run{}, err
	}
	hint := unit.Storable(why.Hint)
	return endRun(ctx, s.Core, run, r, output, func(u *unit.Unit, r *parley.Run, keep func(*parley.Run)) error {
		if r.Cancel != "" {
			return endCancelled(u, r, keep)
		}
		return endWithFailure(u, r, trouble, hint, keep)
	})
}

// endRun ends a live run. It stores the usage and the session that the runtime reports, and the output.
func endRun(ctx context.Context, core *unit.Core, id string, result parley.Result, output []byte,
	end func(u *unit.Unit, r *parley.Run, keep func(*parley.Run)) error,
) (run parley.Run, err error) {
	keep := func(r *parley.Run) {
		r.Usage = validUsage(result.Usage)
		if result.Session != "" && parley.CheckRun(result.Session) == nil {
			r.Session = result.Session
		}
	}
	err = core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		if run, err = u.Runs().Get(id); errors.Is(err, parley.ErrNotFound) {
			return runs.RunEndedError(id)
		}
		if err != nil || !run.State.Live() {
			return err
		}
		if err := end(u, &run, keep); err != nil {
			return err
		}
		return saveOutput(u, id, output)
	})
	if err == nil || parley.AsError(err).Reason == parley.Conflict {
		core.Live.Remove(id)
	}
	return run, err
}

// saveOutput stores the last part of a run's output: the given output, or else the output in memory.
func saveOutput(u *unit.Unit, run string, output []byte) error {
	if output == nil {
		output = u.Core.Live.Output(run)
	}
	if len(output) == 0 {
		return nil
	}
	return runs.SaveOutput(u.Tx, run, local.Tail(output, local.MaxOutput))
}

// validUsage returns the usage that a runtime reports, with 0 in place of impossible values.
func validUsage(u parley.Usage) parley.Usage {
	u.InputTokens, u.OutputTokens = max(0, u.InputTokens), max(0, u.OutputTokens)
	if !(u.Cost >= 0 && u.Cost <= math.MaxInt32) {
		u.Cost = 0
	}
	return u
}

// conversationOf returns the conversation of a run.
func conversationOf(ctx context.Context, core *unit.Core, id string) (conversation string, err error) {
	core.Live.Change(id, func(one *local.LiveRun) { conversation = one.Conv })
	if conversation != "" {
		return conversation, nil
	}
	err = core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		r, err := u.Runs().Get(id)
		if errors.Is(err, parley.ErrNotFound) {
			return runs.RunEndedError(id)
		}
		conversation = r.Conversation
		return err
	})
	return conversation, err
}

func forEachLeased(u *unit.Unit, r parley.Run, do func(*parley.Delivery) error) error {
	list, err := u.Queue().Leased(r.ID)
	for i := range list {
		if err == nil {
			err = do(&list[i])
		}
	}
	return err
}

// endWithFailure ends a run for a reason, and gives its deliveries back. If the program has ended, they are ready at once, so
// that newer deliveries do not overtake them.
func endWithFailure(u *unit.Unit, r *parley.Run, why parley.Trouble, hint string, keep func(*parley.Run)) error {
	cause := deliveries.Failed(r.Agent, why)
	cause.Suggestion = hint
	if why.Failure == parley.FailureFinal && !u.Now.Before(r.Deadline) {
		cause.Code = parley.TimedOut
	}
	err := forEachLeased(u, *r, func(d *parley.Delivery) error {
		if why.Failure == parley.FailureLost {
			return work.RetryOrEndAfter(u, d, why.Failure, cause, why.After)
		}
		return work.RetryOrEnd(u, d, why.Failure, cause, why.After)
	})
	if err != nil {
		return err
	}
	return storeFailure(u, r, why.Failure, cause, keep)
}

// storeFailure ends a run whose deliveries were given back.
func storeFailure(u *unit.Unit, r *parley.Run, f parley.Failure, cause *parley.Error, keep func(*parley.Run)) error {
	to := parley.RunFailed
	switch f {
	case parley.FailureLost:
		to = parley.RunLost
	case parley.FailureStopped:
		to = parley.RunCancelled
	}
	err := work.EndRun(u, r, to, func(r *parley.Run) {
		keep(r)
		r.Failure = cause
	})
	if err == nil {
		err = work.TaskRunFailed(u, *r, cause)
	}
	if err != nil || to == parley.RunCancelled {
		return err
	}
	return presence.SummarizeAll(u, []string{r.Agent})
}

// endCancelled ends a run that somebody has cancelled.
func endCancelled(u *unit.Unit, r *parley.Run, keep func(*parley.Run)) error {
	asks, err := u.Waits().AsksOfRun(r.ID)
	if err != nil {
		return err
	}
	if err := forEachLeased(u, *r, func(d *parley.Delivery) error { return returnCancelled(u, d, *r) }); err != nil {
		return err
	}
	if err := work.EndRun(u, r, parley.RunCancelled, keep); err != nil {
		return err
	}
	if err := work.TaskRunFailed(u, *r, runs.CancelledError(*r)); err != nil || runs.StoppedWith(*r) {
		return err
	}
	return work.CancelAsked(u, *r, asks)
}

// returnCancelled fails a delivery of a run that was cancelled. If the run was cancelled because its agent was stopped, the
// delivery goes back to the agent's queue, even if the agent was started again in the meantime.
func returnCancelled(u *unit.Unit, d *parley.Delivery, r parley.Run) error {
	if runs.StoppedWith(r) {
		return work.RetryOrEnd(u, d, parley.FailureStopped, nil, 0)
	}
	return deliveries.End(u, d, parley.DeliveryFailed, runs.CancelledError(r))
}

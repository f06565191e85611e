package hub

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// FinishRun ends a run that went well: its answer is posted, and what woke it is answered, or acknowledged
// where there is no answer, all in one update. Of a run that somebody wants to end nothing is posted. If the
// answer cannot be posted, the run has failed. A run that has ended already is returned as it is.
func (h *Hub) FinishRun(ctx context.Context, run string, r parley.Result, output []byte) (parley.Run, error) {
	began := time.Now()
	where, err := h.whereRuns(ctx, run)
	if err != nil {
		return parley.Run{}, err
	}
	p, err := h.composeAnswer(run, where, r.Text)
	if err != nil {
		return h.FailRun(ctx, run, unposted(err), r, output)
	}
	var (
		posted  *parley.Message
		refused bool
	)
	ended, err := h.endRun(ctx, run, r, output, func(s *scene, r *parley.Run, keep func(*parley.Run)) (err error) {
		posted, refused = nil, false
		if r.Cancel != "" {
			return s.endCancelled(r, keep)
		}
		posted, err = s.succeed(r, p, keep)
		refused = err != nil
		return err
	})
	if refused && final(err) {
		return h.FailRun(ctx, run, unposted(err), r, output)
	}
	if err == nil && posted != nil {
		h.wrote(began)
		h.index.posted(*posted)
	}
	return ended, err
}

// final says that the answer itself was refused, and would be again. What the store cannot do now, it may later.
func final(err error) bool {
	switch e := parley.AsError(err); e.Code {
	case parley.NotPermitted, parley.BadInput, parley.DependencyFailed:
		return true
	default:
		return errors.Is(err, errInboxFull) || e.Reason == parley.Gone
	}
}

// unposted is the failure of a run whose answer nobody can read.
func unposted(err error) *parley.RunError {
	e := parley.AsError(err)
	return &parley.RunError{
		Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: "its answer could not be posted: " + e.Message}, Hint: e.Suggestion,
	}
}

// succeed posts the answer of a run, settles what woke it, and ends it.
func (s *scene) succeed(r *parley.Run, p post, keep func(*parley.Run)) (posted *parley.Message, err error) {
	switch r.State {
	case parley.RunStarting:
		err = s.begin(r, r.Process)
	case parley.RunWaiting:
		err = s.step(r, parley.RunRunning, nil)
	}
	if err != nil {
		return nil, err
	}
	agent, err := s.Agents().Find(r.Agent)
	if err != nil {
		return nil, err
	}
	s.endAs(agent)
	s = s.As(agent)
	ask, err := s.answering(*r)
	if err != nil {
		return nil, err
	}
	if ask.goesOn {
		p.draft.Type = parley.TypeStatus
	}
	answer, posted, err := s.answerOf(*r, p)
	if err != nil {
		return nil, err
	}
	err = s.eachLeased(*r, func(d *parley.Delivery) error {
		if ask.parked && d.Purpose == parley.PurposeAsk { // the end of its task answers it, which may be long after
			return s.move(d, parley.DeliveryAcked, nil)
		}
		return s.settle(d, parley.Outcome{Answer: answer})
	})
	if err != nil {
		return nil, err
	}
	err = s.endRun(r, parley.RunSucceeded, func(r *parley.Run) {
		keep(r)
		r.Answer = answer
	})
	if err != nil {
		return nil, err
	}
	return posted, s.taskRunEnded(*r, p.draft.Content.Text)
}

// FailRun ends a run that has failed. What may succeed at another time is tried again, as often as its agent's
// attempts allow; what was stopped at once, and that counts as no try; what cannot succeed has failed, and its
// sender is told. A run that has ended already is returned as it is.
func (h *Hub) FailRun(ctx context.Context, run string, why *parley.RunError, r parley.Result, output []byte) (parley.Run, error) {
	trouble := why.Trouble
	trouble.After = min(max(0, trouble.After), maxAfter) // an API may say anything
	trouble, err := checkTrouble(trouble)
	if err != nil {
		return parley.Run{}, err
	}
	hint := storable(why.Hint)
	return h.endRun(ctx, run, r, output, func(s *scene, r *parley.Run, keep func(*parley.Run)) error {
		if r.Cancel != "" {
			return s.endCancelled(r, keep)
		}
		return s.fail(r, trouble, hint, keep)
	})
}

// endRun ends a run that is live, with what is known of it at its end.
func (h *Hub) endRun(ctx context.Context, id string, result parley.Result, output []byte,
	end func(s *scene, r *parley.Run, keep func(*parley.Run)) error,
) (run parley.Run, err error) {
	keep := func(r *parley.Run) {
		r.Usage = countable(result.Usage)
		if result.Session != "" && parley.CheckRun(result.Session) == nil {
			r.Session = result.Session
		}
	}
	err = h.write(ctx, theHub, opItself, func(s *scene) error {
		if run, err = s.Runs().Get(id); errors.Is(err, parley.ErrNotFound) {
			return runOver(id)
		}
		if err != nil || !run.State.Live() {
			return err
		}
		if err := end(s, &run, keep); err != nil {
			return err
		}
		return s.keepOutput(id, output)
	})
	if err == nil || parley.AsError(err).Reason == parley.Conflict {
		h.live.drop(id)
	}
	return run, err
}

// keepOutput keeps the last of what a run has put out: what is given, or else what is in memory by now.
func (s *scene) keepOutput(run string, output []byte) error {
	if output == nil {
		output = s.hub.live.output(run)
	}
	if len(output) == 0 {
		return nil
	}
	return s.Runs().KeepOutput(run, tail(output, mostOutput))
}

// countable is what a runtime says it has used, as far as it can be.
func countable(u parley.Usage) parley.Usage {
	u.InputTokens, u.OutputTokens = max(0, u.InputTokens), max(0, u.OutputTokens)
	if !(u.Cost >= 0 && u.Cost <= math.MaxInt32) {
		u.Cost = 0
	}
	return u
}

// whereRuns is the conversation that a run is in.
func (h *Hub) whereRuns(ctx context.Context, id string) (conversation string, err error) {
	h.live.change(id, func(one *liveRun) { conversation = one.conv })
	if conversation != "" {
		return conversation, nil
	}
	err = h.view(ctx, theHub, opItself, func(s *scene) error {
		r, err := s.Runs().Get(id)
		if errors.Is(err, parley.ErrNotFound) {
			return runOver(id)
		}
		conversation = r.Conversation
		return err
	})
	return conversation, err
}

func (s *scene) eachLeased(r parley.Run, do func(*parley.Delivery) error) error {
	list, err := s.Queue().Leased(r.ID)
	for i := range list {
		if err == nil {
			err = do(&list[i])
		}
	}
	return err
}

// fail ends a run for a reason, and returns its deliveries. If the program has ended, they are ready at once, so that nothing
// newer overtakes them.
func (s *scene) fail(r *parley.Run, why parley.Trouble, hint string, keep func(*parley.Run)) error {
	cause := failed(r.Agent, why)
	cause.Suggestion = hint
	if why.Failure == parley.FailureFinal && !s.now.Before(r.Deadline) {
		cause.Code = parley.TimedOut
	}
	err := s.eachLeased(*r, func(d *parley.Delivery) error {
		if why.Failure == parley.FailureLost {
			return s.giveBackAfter(d, why.Failure, cause, why.After)
		}
		return s.giveBack(d, why.Failure, cause, why.After)
	})
	if err != nil {
		return err
	}
	return s.endFailed(r, why.Failure, cause, keep)
}

// endFailed ends a run whose deliveries were given back.
func (s *scene) endFailed(r *parley.Run, f parley.Failure, cause *parley.Error, keep func(*parley.Run)) error {
	to := parley.RunFailed
	switch f {
	case parley.FailureLost:
		to = parley.RunLost
	case parley.FailureStopped:
		to = parley.RunCancelled
	}
	err := s.endRun(r, to, func(r *parley.Run) {
		keep(r)
		r.Failure = cause
	})
	if err == nil {
		err = s.taskRunFailed(*r, cause)
	}
	if err != nil || to == parley.RunCancelled {
		return err
	}
	return s.summarizeAll([]string{r.Agent})
}

// endCancelled ends a run that somebody wanted to end.
func (s *scene) endCancelled(r *parley.Run, keep func(*parley.Run)) error {
	asks, err := s.Waits().AskedBy(r.ID)
	if err != nil {
		return err
	}
	if err := s.eachLeased(*r, func(d *parley.Delivery) error { return s.release(d, *r) }); err != nil {
		return err
	}
	if err := s.endRun(r, parley.RunCancelled, keep); err != nil {
		return err
	}
	if err := s.taskRunFailed(*r, wasCancelled(*r)); err != nil || stoppedWith(*r) {
		return err
	}
	return s.cancelAsked(*r, asks)
}

// stoppedWith reports whether a run was cancelled because its agent was stopped. The asks of such a run go on, because the
// agent continues with its queue when it is started again.
func stoppedWith(r parley.Run) bool { return strings.HasPrefix(r.Cancel, stopOf(r.Agent)) }

func wasCancelled(r parley.Run) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s%sthe run was cancelled: %s", r.Agent, didNot, r.Cancel).
		Suggest("send it again if it is still wanted")
}

// release is what happens to a delivery of a run that was cancelled: it has failed, unless that was because
// its recipient was stopped, whose queue is kept, even if it was started again meanwhile.
func (s *scene) release(d *parley.Delivery, r parley.Run) error {
	if stoppedWith(r) {
		return s.giveBack(d, parley.FailureStopped, nil, 0)
	}
	return s.end(d, parley.DeliveryFailed, wasCancelled(r))
}

// LostRuns are the runs that a former process of the hub with this name has left: those that still count as
// live, and those that were found to be lost meanwhile, whose processes may live. See RecoverRun.
func (h *Hub) LostRuns(ctx context.Context, node string) (lost []parley.Run, err error) {
	err = h.view(ctx, theHub, opItself, func(s *scene) error {
		s.LeaveOut(nil) // the hub starts without those that cannot be read
		live, err := s.Runs().Live("")
		if err != nil {
			return err
		}
		ended, err := s.Runs().List(parley.RunFilter{Limit: recentRuns})
		for _, r := range live {
			if r.Node == node {
				lost = append(lost, r)
			}
		}
		for _, r := range ended {
			if r.Node == node && r.State == parley.RunLost && r.Process.PID != 0 {
				lost = append(lost, r)
			}
		}
		return err
	})
	return lost, err
}

// recentRuns is how far back a process is looked for that outlived its run.
const recentRuns = 1000

// RecoverRun ends a run that ended with its hub. Its process is gone by now. What woke it is ready again: see Recover.
func (h *Hub) RecoverRun(ctx context.Context, run string) error {
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		r, err := s.Runs().Get(run)
		if errors.Is(err, parley.ErrNotFound) {
			return nil
		}
		if err == nil && r.State.Live() {
			err = s.crashed(&r)
		}
		if err != nil {
			return err
		}
		return s.setProcess(&r, parley.Process{})
	})
}

// lose ends a run that nobody is at any more.
func (s *scene) lose(r *parley.Run) error {
	keep := func(*parley.Run) {}
	if r.Cancel != "" {
		return s.endCancelled(r, keep)
	}
	lost := parley.Trouble{Failure: parley.FailureLost, Reason: whyLost}
	cause := failed(r.Agent, lost)
	err := s.eachLeased(*r, func(d *parley.Delivery) error { return s.giveBack(d, lost.Failure, cause, 0) })
	if err != nil {
		return err
	}
	return s.endFailed(r, lost.Failure, cause, keep)
}

const whyLost = "the hub or the program ended before the run did"

// loseOverdue ends runs that are past their deadline and hold nothing: had they lived, they would have ended.
func (h *Hub) loseOverdue(ctx context.Context) error {
	overdue := func(s *scene) (list []parley.Run, err error) {
		live, err := s.Runs().Live("")
		for _, r := range live {
			if err == nil && r.Deadline.Add(2*runGrace).Before(s.now) {
				var held []parley.Delivery
				if held, err = s.Queue().Leased(r.ID); len(held) == 0 {
					list = append(list, r)
				}
			}
		}
		return list, err
	}
	var list []parley.Run
	err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
		s.LeaveOut(nil)
		list, err = overdue(s)
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		s.LeaveOut(nil)
		list, err := overdue(s)
		for i := range list {
			if err == nil {
				err = s.lose(&list[i])
			}
		}
		return err
	})
}

// cancel says that a run is to end. Whoever is at it looks.
func (s *scene) cancel(r *parley.Run, reason string) error {
	after := *r
	after.Cancel = reason
	if err := s.keepRun(r, after); err != nil {
		return err
	}
	s.wake(r.Agent)
	return s.noteRun(*r)
}

// cancelAtOnce ends runs that have nothing to be in any more, whoever is at them.
func (s *scene) cancelAtOnce(runs []parley.Run, reason string) error {
	for i := range runs {
		err := s.endRun(&runs[i], parley.RunCancelled, func(r *parley.Run) { r.Cancel = reason })
		if err != nil {
			return err
		}
	}
	return nil
}

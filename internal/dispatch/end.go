package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

// The reasons for which the dispatcher ends a run.
var (
	errStopping = errors.New("the hub is stopping")
	errDeadline = errors.New("the deadline of the run has passed")
	errEnded    = errors.New("the run has ended in the hub, or belongs to another process")
	errLost     = errors.New("the hub could not extend the lease of the run")
)

// cancelled is the reason that a participant gave for cancelling a run.
type cancelled string

func (c cancelled) Error() string { return string(c) }

// startError returns the error of a run that could not start. The hub retries such a run.
func startError(err error) *parley.RunError { return runError(parley.FailureNoStart, err) }

func runError(f parley.Failure, err error) *parley.RunError {
	e := parley.AsError(err)
	return &parley.RunError{Trouble: parley.Trouble{Failure: f, Reason: e.Message, After: e.RetryAfter}, Hint: e.Suggestion}
}

// failureOf returns why a run failed: the reason for which it was ended, or its runtime's error. It returns nil if err is nil.
func (r *activeRun) failureOf(ctx context.Context, err error) *parley.RunError {
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopping), errors.Is(cause, errEnded), errors.Is(cause, errLost):
		return runError(parley.FailureStopped, cause)
	case errors.Is(cause, errDeadline):
		return r.deadlineError(err)
	case cause != nil:
		return runError(parley.FailureFinal, cause)
	}
	if reported, ok := errors.AsType[*parley.RunError](err); ok {
		return reported
	}
	return runError(parley.FailureFinal, err)
}

// deadlineError returns the error of a run that its deadline has ended. It includes the runtime's own error, which says
// whether a retry may help.
func (r *activeRun) deadlineError(err error) *parley.RunError {
	why := &parley.RunError{
		Trouble: parley.Trouble{
			Failure: parley.FailureFinal,
			Reason:  fmt.Sprintf("it did not end within %s", r.Run.Deadline.Sub(r.Run.CreatedAt).Round(time.Second)),
		},
		Hint: "give it less work at once, or raise the deadline: runs.deadline in config.yaml, or deadline in its runtime_config",
	}
	reported, ok := errors.AsType[*parley.RunError](err)
	if !ok || reported.Failure == parley.FailureStopped {
		return why
	}
	why.Failure, why.After = reported.Failure, reported.After
	why.Reason += ": " + reported.Reason
	if reported.Hint != "" {
		why.Hint = reported.Hint
	}
	return why
}

// settle reports the end of the run to the hub. If somebody cancelled the run meanwhile, the hub decides which reason counts.
func (r *activeRun) settle(result parley.Result, why *parley.RunError) {
	if why != nil && why.Failure != parley.FailureStopped {
		r.options.Log.Warn("a run has failed", "agent", r.Agent.ID, "run", r.Run.ID, "failure", why.Failure, "reason", r.hide(why.Reason))
	}
	result.Text = r.hide(result.Text)
	if why != nil {
		why.Reason, why.Hint = r.hide(why.Reason), r.hide(why.Hint)
	}
	err := r.reportUntilStored(func(ctx context.Context) (err error) {
		if why == nil {
			_, err = r.hub.FinishRun(ctx, r.Run.ID, result, nil)
		} else {
			_, err = r.hub.FailRun(ctx, r.Run.ID, why, result, nil)
		}
		return err
	})
	if err != nil && !hasEnded(err) {
		r.options.Log.Error("cannot store the end of a run; the hub retries its messages when its lease ends", "run", r.Run.ID, "error", err)
	}
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// reportUntilStored repeats a report until the hub has stored it, the run has ended otherwise, or the hub is stopping.
func (r *activeRun) reportUntilStored(report func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := report(context.WithoutCancel(r.dispatcher.runs))
		if err == nil || !mayRetry(err) {
			return err
		}
		r.options.Log.Warn("cannot store the end of a run yet; retrying", "run", r.Run.ID, "error", err, "retry_in", pause)
		select {
		case <-r.dispatcher.runs.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// mayRetry reports whether the store may accept the same call later.
func mayRetry(err error) bool {
	e := parley.AsError(err)
	return e.Code == parley.Unavailable || e.Code == parley.TimedOut || e.Code == parley.Internal
}

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
	errEnded    = errors.New("the run is not this process's any more")
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
func (l *activeRun) failureOf(ctx context.Context, err error) *parley.RunError {
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopping), errors.Is(cause, errEnded), errors.Is(cause, errLost):
		return runError(parley.FailureStopped, cause)
	case errors.Is(cause, errDeadline):
		return l.deadlineError(err)
	case cause != nil:
		return runError(parley.FailureFinal, cause)
	}
	if said, ok := errors.AsType[*parley.RunError](err); ok {
		return said
	}
	return runError(parley.FailureFinal, err)
}

// deadlineError returns the error of a run that its deadline has ended. It includes the runtime's own error, which says
// whether a retry may help.
func (l *activeRun) deadlineError(err error) *parley.RunError {
	why := &parley.RunError{
		Trouble: parley.Trouble{
			Failure: parley.FailureFinal,
			Reason:  fmt.Sprintf("it did not end within %s", l.Run.Deadline.Sub(l.Run.CreatedAt).Round(time.Second)),
		},
		Hint: "give it less to do at once, or raise the deadline: runs.deadline in config.yaml, or that of its runtime_config",
	}
	said, ok := errors.AsType[*parley.RunError](err)
	if !ok || said.Failure == parley.FailureStopped {
		return why
	}
	why.Failure, why.After = said.Failure, said.After
	why.Reason += ": " + said.Reason
	if said.Hint != "" {
		why.Hint = said.Hint
	}
	return why
}

// settle reports the end of the run to the hub. If there are several reasons, the hub decides which one counts.
func (l *activeRun) settle(result parley.Result, why *parley.RunError) {
	if why != nil && why.Failure != parley.FailureStopped {
		l.options.Log.Warn("a run has failed", "agent", l.Agent.ID, "run", l.Run.ID, "failure", why.Failure, "reason", l.hide(why.Reason))
	}
	result.Text = l.hide(result.Text)
	if why != nil {
		why.Reason, why.Hint = l.hide(why.Reason), l.hide(why.Hint)
	}
	err := l.reportUntilStored(func(ctx context.Context) (err error) {
		if why == nil {
			_, err = l.hub.FinishRun(ctx, l.Run.ID, result, nil)
		} else {
			_, err = l.hub.FailRun(ctx, l.Run.ID, why, result, nil)
		}
		return err
	})
	if err != nil && !hasEnded(err) {
		l.options.Log.Error("the end of a run could not be stored; what it had will be tried again", "run", l.Run.ID, "error", err)
	}
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// reportUntilStored repeats a report until the hub has stored it, the run has ended otherwise, or the hub is stopping.
func (l *activeRun) reportUntilStored(tell func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := tell(context.WithoutCancel(l.dispatcher.runs))
		if err == nil || !mayRetry(err) {
			return err
		}
		l.options.Log.Warn("the end of a run could not be stored yet", "run", l.Run.ID, "error", err)
		select {
		case <-l.dispatcher.runs.Done():
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

package deliveries

import (
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// failureKinds are the code and the default reason of each kind of failure.
var failureKinds = map[parley.Failure]struct {
	code   parley.Code
	reason string
}{
	parley.FailureLost:    {parley.Unavailable, "its process or session ended"},
	parley.FailureBusy:    {parley.Unavailable, "it is too busy"},
	parley.FailureServer:  {parley.DependencyFailed, "a service that it needs failed"},
	parley.FailureNoStart: {parley.Unavailable, "it could not be started"},
	parley.FailureStopped: {parley.Unavailable, "it was stopped"},
	parley.FailureFinal:   {parley.DependencyFailed, "it failed"},
}

// MaxAfter is the longest delay that a recipient can ask for before the next attempt.
const MaxAfter = 24 * time.Hour

// CheckTrouble returns a reported failure with its default kind and a reason that can be stored, or E003 if it is not valid.
func CheckTrouble(t parley.Trouble) (parley.Trouble, error) {
	unit.SetDefault(&t.Failure, parley.FailureFinal)
	switch {
	case !t.Failure.Known():
		return t, parley.Errorf(parley.BadInput, "unknown failure %q", t.Failure).Suggest("use lost, busy, server, nostart or final")
	case t.After < 0 || t.After > MaxAfter:
		return t, parley.Errorf(parley.BadInput, "the next attempt would be in %s", t.After).Suggest("use 0s to %s", MaxAfter)
	}
	t.Reason = unit.Storable(t.Reason)
	return t, nil
}

// Failed returns the error of a delivery whose recipient reported a failure.
func Failed(recipient string, t parley.Trouble) *parley.Error {
	kind := failureKinds[t.Failure]
	reason := kind.reason
	if t.Reason != "" {
		reason = t.Reason
	}
	return parley.Errorf(kind.code, "%s%s%s", recipient, DidNot, reason)
}

// Unhandled returns the error of a delivery whose recipient took it, and let its lease end. attempts is how often that happened.
func Unhandled(recipient string, attempts int) *parley.Error {
	times := ""
	if attempts > 1 {
		times = fmt.Sprintf(" %d times", attempts)
	}
	return Failed(recipient, parley.Trouble{
		Failure: parley.FailureLost, Reason: "it took the message" + times + " and neither answered nor acknowledged it",
	})
}

// DidNot stands between the recipient that failed and the reason.
const DidNot = " did not do this: "

// Sentence returns the text of an error. It marks the reason and the hint as quotes, because they may come from the
// recipient or its program.
func Sentence(e *parley.Error, recipient string) parley.Wording {
	w := parley.Framed(recipient, e.Sentence()).Own(unit.MissingStop(e.Message))
	if e.Suggestion != "" {
		w = w.Own(" Hint: ").Quote("", e.Suggestion).Own(unit.MissingStop(e.Suggestion))
	}
	return w
}

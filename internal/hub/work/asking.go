package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// AskOutcome are how far a wait has come, with what is needed to tell whoever waits.
type AskOutcome struct {
	parley.Wait
	target parley.Agent
	text   string // of the answer
}

// OutcomeOf reads what there is to tell of a wait.
func OutcomeOf(u *unit.Unit, w parley.Wait) (now AskOutcome, err error) {
	now.Wait = w
	if w.State == parley.WaitWaiting {
		return now, nil
	}
	now.target, now.text, err = answerTo(u, w)
	return now, err
}

// Outcome is what a wait that is over means for whoever began it.
func (now AskOutcome) Outcome(begun parley.Wait, made parley.Contacted) (parley.Contacted, error) {
	switch {
	case now.State == parley.WaitAnswered:
		made.Answer = now.Answer
		return made.Answered(now.target, now.text), nil
	case now.Failure != nil:
		return made, now.Failure
	case now.State == parley.WaitAbandoned:
		return made, runs.RunOver(begun.Run)
	default:
		if now.Until.Before(begun.Until) { // it could not be waited for any longer
			begun.Until = now.Until
		}
		late := timeoutError(now.target.Name, begun)
		made.Outcome, made.Text = parley.ContactLate, late.Message
		return made, late
	}
}

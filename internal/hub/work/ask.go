package work

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// CheckSlots refuses an ask to an agent that has too many asks to answer.
func CheckSlots(u *unit.Unit, target parley.Agent) error {
	if target.Kind != parley.KindAgent {
		return nil
	}
	if err := mayPark(u, target.ID); err != nil {
		return err
	}
	open, err := u.Queue().CountAsks(target.ID)
	if limit := u.Core.Config.Asks.Slots; err == nil && open >= limit {
		return parley.Errorf(parley.Unavailable, "%s already has %d open asks, which is the limit. Ask again later, or use 'delegate' for async processing.",
			target.Name, open)
	}
	return err
}

// timeoutError tells the caller of an ask that its time is up.
func timeoutError(target string, w parley.Wait) *parley.Error {
	seconds := strconv.FormatFloat(w.Until.Sub(w.Since).Seconds(), 'f', -1, 64)
	return parley.Errorf(parley.TimedOut, "%s did not respond within %s seconds. Consider using 'delegate' for async processing."+
		" The answer will be delivered when it comes.", target, seconds)
}

// UnansweredError is the error for an ask whose delivery ended without an answer.
func UnansweredError(target parley.Agent, d parley.Delivery) *parley.Error {
	return NoResponseError(target, reasonOf(d))
}

// NoResponseError is the error for an ask that its target does not answer, for this reason.
func NoResponseError(target parley.Agent, why string) *parley.Error {
	code := parley.DependencyFailed
	if slices.Contains([]string{waits.WhyRemoved, runs.WhyStopped, waits.WhyAway}, why) {
		code = parley.Unavailable
	}
	return parley.Errorf(code, "%s failed to respond: %s", target.Name, why)
}

// noAnswer is the reason of a failed ask whose answerer ended without an answer.
const noAnswer = "it gave no answer"

// reasonOf returns in a few words why a delivery has ended without an answer.
func reasonOf(d parley.Delivery) string {
	if d.Failure == nil {
		return noAnswer
	}
	return PlainReason(d.Failure, d.Recipient)
}

// PlainReason returns the text of a failure without the name of the participant that failed.
func PlainReason(cause *parley.Error, who string) string {
	if cause.Reason == parley.Gone {
		return waits.WhyRemoved
	}
	return (&parley.Error{Message: strings.TrimPrefix(cause.Message, who+deliveries.DidNot)}).Plain()
}

// ContentText returns the content of a message as text.
func ContentText(c parley.Content) string {
	parts := []string{}
	for _, part := range []string{c.Text, c.Code} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	for _, a := range c.Artifacts {
		name := a.Name
		unit.SetDefault(&name, a.Path)
		unit.SetDefault(&name, a.SHA256)
		parts = append(parts, "[artifact: "+name+"]")
	}
	return strings.Join(parts, "\n\n")
}

func responseFrom(target parley.Agent, text string) string {
	return "Response from " + target.Name + ": " + text
}

// AskOutcome is the state of a wait, with what its asker is told.
type AskOutcome struct {
	parley.Wait
	target parley.Agent
	text   string // the text of the answer
}

// FindOutcome reads the outcome of a wait.
func FindOutcome(u *unit.Unit, w parley.Wait) (now AskOutcome, err error) {
	now.Wait = w
	if w.State == parley.WaitWaiting {
		return now, nil
	}
	now.target, now.text, err = answerTo(u, w)
	return now, err
}

// Outcome returns the outcome of an ended wait for its asker. wait is the wait as it began.
func (now AskOutcome) Outcome(wait parley.Wait, contacted parley.Contacted) (parley.Contacted, error) {
	switch {
	case now.State == parley.WaitAnswered:
		contacted.Answer = now.Answer
		return contacted.Answered(now.target, now.text), nil
	case now.Failure != nil:
		return contacted, now.Failure
	case now.State == parley.WaitAbandoned:
		return contacted, runs.RunEndedError(wait.Run)
	default:
		if now.Until.Before(wait.Until) { // the wait ended early
			wait.Until = now.Until
		}
		late := timeoutError(now.target.Name, wait)
		contacted.Outcome, contacted.Text = parley.ContactLate, late.Message
		return contacted, late
	}
}

// answerTo returns the participant that answered an ask, and the text, if there is one. It is the asked agent, unless the task was
// reassigned.
func answerTo(u *unit.Unit, w parley.Wait) (who parley.Agent, text string, err error) {
	from := w.Target
	if w.Answer != "" {
		m, err := u.Messages().Get(w.Answer)
		switch {
		case m.Damage != nil:
			text = "Error: " + m.Damage.Message
		case err == nil:
			from, text = m.From, ContentText(m.Content)
		case !errors.Is(err, parley.ErrNotFound):
			return who, "", err
		}
	}
	who, err = u.Agents().Find(from)
	return who, text, err
}

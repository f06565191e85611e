package work

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// CheckSlots refuses an ask to an agent that has too many already.
func CheckSlots(u *unit.Unit, target parley.Agent) error {
	if target.Kind != parley.KindAgent {
		return nil
	}
	if err := mayPark(u, target.ID); err != nil {
		return err
	}
	open, err := u.Queue().Asked(target.ID)
	if most := u.Core.Config.Asks.Slots; err == nil && open >= most {
		return parley.Errorf(parley.Unavailable, "%s has %d asks to answer already and takes no more. Ask again later, or use 'delegate' for async processing.",
			target.Name, open)
	}
	return err
}

// timeoutError is what the caller of an ask is told when its time is up.
func timeoutError(target string, w parley.Wait) *parley.Error {
	seconds := strconv.FormatFloat(w.Until.Sub(w.Since).Seconds(), 'f', -1, 64)
	return parley.Errorf(parley.TimedOut, "%s did not respond within %s seconds. Consider using 'delegate' for async processing."+
		" The answer will be delivered when it comes.", target, seconds)
}

// Unanswered is why the caller of an ask gets no answer to it, if it gets none.
func Unanswered(target parley.Agent, d parley.Delivery) *parley.Error {
	return FailedToRespond(target, reasonOf(d))
}

func FailedToRespond(target parley.Agent, why string) *parley.Error {
	code := parley.DependencyFailed
	if slices.Contains([]string{waits.WhyRemoved, runs.WhyStopped, waits.WhyAway}, why) {
		code = parley.Unavailable
	}
	return parley.Errorf(code, "%s failed to respond: %s", target.Name, why)
}

// noAnswer is the reason of a failed ask whose answerer ended without an answer.
const noAnswer = "it gave no answer"

// reasonOf is why a delivery has ended without an answer, in a few words.
func reasonOf(d parley.Delivery) string {
	if d.Failure == nil {
		return noAnswer
	}
	return Reason(d.Failure, d.Recipient)
}

// Reason is why somebody has failed, without its name.
func Reason(cause *parley.Error, who string) string {
	if cause.Reason == parley.Gone {
		return waits.WhyRemoved
	}
	return (&parley.Error{Message: strings.TrimPrefix(cause.Message, who+deliveries.DidNot)}).Plain()
}

// Spoken is a message in words, whatever it is made of.
func Spoken(c parley.Content) string {
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

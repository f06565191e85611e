package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

const (
	maxRounds   = 32 // turns with tools in one run
	maxAttempts = 4  // requests for one turn
	firstPause  = time.Second
	maxPause    = 30 * time.Second // if an API asks for a longer pause, the run fails and the hub retries it later
)

// modelRun is the state of one run.
type modelRun struct {
	*Runtime
	request  parley.RunRequest
	settings settings
	provider Provider
	key      string
	dialogue dialogue
	begun    bool
	used     parley.Usage
}

// converse requests turns and calls tools until the model has answered.
func (x *modelRun) converse(ctx context.Context) (string, error) {
	for round := 1; round <= maxRounds; round++ {
		t, err := x.nextTurn(ctx)
		if err != nil {
			return "", err
		}
		x.log("turn %d: %d tokens in, %d out, %d calls\n%s\n", round, t.InputTokens, t.OutputTokens, len(t.calls), t.text)
		if len(t.calls) == 0 || t.ending != done {
			return x.answer(t)
		}
		if t.text != "" {
			x.request.Say("\n")
		}
		outcomes, err := x.callTools(ctx, t.calls)
		if err != nil {
			return "", err
		}
		x.dialogue.addResults(outcomes)
	}
	return "", finalError(fmt.Sprintf("the model has used tools %d times in a row without an answer", maxRounds),
		"see the output of the run, and tell the agent in its IDENTITY.md when to stop")
}

// answer returns the answer in the last turn. An answer that was cut off ends with a note about it. A turn with tool calls
// that was cut off is an error, because the calls are incomplete.
func (x *modelRun) answer(t turn) (string, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(t.text, "\uFFFD"))
	switch {
	case t.ending == refused:
		reason := "the model refuses to answer"
		if t.refusal != "" {
			reason += ": " + x.cleanText(t.refusal)
		}
		return "", finalError(reason, "ask in another way, or use another model")
	case t.ending == cutOff && (text == "" || len(t.calls) > 0):
		return "", finalError("the answer was cut off before it began", "raise max_tokens in the agent's runtime_config, or lower its context_messages")
	case t.ending == cutOff:
		return text + "\n\n(cut off: the answer reached the limit of tokens)", nil
	default:
		return text, nil
	}
}

func finalError(reason, hint string) *parley.RunError {
	return &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: reason}, Hint: hint}
}

// callTools makes the calls of a turn, one after the other.
func (x *modelRun) callTools(ctx context.Context, calls []toolCall) ([]toolResult, error) {
	outcomes := make([]toolResult, 0, len(calls))
	agent := tools.Participant{ID: x.request.Agent.ID, Workspace: x.request.Workspace, InRun: true}
	for _, c := range calls {
		result, err := tools.Call(ctx, agent, c.name, c.args)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		text := result.Text
		if err != nil {
			text = tools.Failure(err)
		}
		x.log("%s %s\n%s\n", c.name, c.args, text)
		outcomes = append(outcomes, toolResult{id: c.id, text: text, failed: err != nil})
	}
	return outcomes, nil
}

// nextTurn requests a turn, and retries until it succeeds or another attempt cannot help.
func (x *modelRun) nextTurn(ctx context.Context) (turn, error) {
	for attempt := 1; ; attempt++ {
		t, err := x.dialogue.next(ctx, listener{accepted: x.begin(ctx), text: x.say})
		x.spend(t.Usage)
		if err == nil || ctx.Err() != nil {
			return t, err
		}
		if stopped, ok := errors.AsType[beginError](err); ok {
			return t, stopped.error
		}
		why := x.runError(err)
		x.log("attempt %d: %v\n", attempt, why)
		wait := x.retryDelay(attempt, why.After)
		if why.Failure == parley.FailureFinal || attempt == maxAttempts || wait > maxPause || !x.hasTime(ctx, wait) {
			return t, why
		}
		if err := x.pause(ctx, wait); err != nil {
			return t, err
		}
	}
}

// retryDelay returns how long to wait after an attempt: the time that the API asks for, or else a time that doubles with each
// attempt. A random factor from 0.5 to 1.5 keeps many runs from retrying at once.
func (x *modelRun) retryDelay(attempt int, requested time.Duration) time.Duration {
	if requested > 0 {
		return requested
	}
	return time.Duration(float64(firstPause<<(attempt-1)) * (0.5 + x.jitter()))
}

// hasTime reports whether the deadline of the run leaves time for another attempt.
func (x *modelRun) hasTime(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > wait
}

// beginError is the error for which the hub refused to begin the run.
type beginError struct{ error }

// begin returns a function that tells the hub, once, that the model has received the prompt.
func (x *modelRun) begin(ctx context.Context) func() error {
	return func() error {
		if x.begun {
			return nil
		}
		if err := x.request.Begin(ctx, parley.Process{}); err != nil {
			return beginError{err}
		}
		x.begun = true
		return nil
	}
}

func (x *modelRun) say(text string) {
	if text != "" {
		x.request.Say(strings.ToValidUTF8(text, "\uFFFD"))
	}
}

func (x *modelRun) spend(u parley.Usage) {
	if u.Cost == 0 {
		u.Cost = x.prices.cost(x.settings.Provider, x.settings.Model, u)
	}
	x.used = x.used.Plus(u)
}

func (x *modelRun) log(format string, args ...any) {
	x.request.Log([]byte(redact(fmt.Sprintf(format, args...), x.key)))
}

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
	maxAttempts = 4  // of one turn
	firstPause  = time.Second
	maxPause    = 30 * time.Second // an API that wants more than that is left to the dispatcher
)

// exchange is the state of one run.
type exchange struct {
	*Runtime
	job      parley.Job
	settings settings
	provider Provider
	key      string
	dialogue dialogue
	begun    bool
	used     parley.Usage
}

// converse requests turns and calls tools until the model has answered.
func (x *exchange) converse(ctx context.Context) (string, error) {
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
			x.job.Say("\n")
		}
		outcomes, err := x.callTools(ctx, t.calls)
		if err != nil {
			return "", err
		}
		x.dialogue.addResults(outcomes)
	}
	return "", finalError(fmt.Sprintf("the model has used tools %d times in a row and not come to an answer", maxRounds),
		"see the output of the run, and tell the agent in its IDENTITY.md when to stop")
}

// answer makes an answer of the last turn. One that was cut off says so; a call that was cut off has not been
// made, so that the turn is worth nothing.
func (x *exchange) answer(t turn) (string, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(t.text, "\uFFFD"))
	switch {
	case t.ending == refused:
		reason := "the model refuses to answer"
		if t.why != "" {
			reason += ": " + x.cleanText(t.why)
		}
		return "", finalError(reason, "ask in another way, or another model")
	case t.ending == length && (text == "" || len(t.calls) > 0):
		return "", finalError("the answer was cut off before there was any", "raise max_tokens in the agent's runtime_config, or lower its context_messages")
	case t.ending == length:
		return text + "\n\n(cut off: the answer was longer than the model may make it)", nil
	default:
		return text, nil
	}
}

func finalError(reason, hint string) *parley.RunError {
	return &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: reason}, Hint: hint}
}

// callTools makes the calls of a turn, one after the other.
func (x *exchange) callTools(ctx context.Context, calls []toolCall) ([]toolResult, error) {
	outcomes := make([]toolResult, 0, len(calls))
	as := tools.Participant{ID: x.job.Agent.ID, Workspace: x.job.Workspace}
	for _, c := range calls {
		text, err := tools.Call(ctx, as, c.name, c.args)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			text = tools.Failure(err)
		}
		x.log("%s %s\n%s\n", c.name, c.args, text)
		outcomes = append(outcomes, toolResult{id: c.id, text: text, failed: err != nil})
	}
	return outcomes, nil
}

// nextTurn requests a turn, and retries until it succeeds or another attempt cannot help.
func (x *exchange) nextTurn(ctx context.Context) (turn, error) {
	for try := 1; ; try++ {
		t, err := x.dialogue.next(ctx, listener{begun: x.begin(ctx), said: x.say})
		x.spend(t.Usage)
		if err == nil || ctx.Err() != nil {
			return t, err
		}
		if stopped, ok := errors.AsType[cannotBegin](err); ok {
			return t, stopped.error
		}
		why := x.runError(err)
		x.log("attempt %d: %v\n", try, why)
		wait := x.retryDelay(try, why.After)
		if why.Failure == parley.FailureFinal || try == maxAttempts || wait > maxPause || !x.hasTime(ctx, wait) {
			return t, why
		}
		if err := x.pause(ctx, wait); err != nil {
			return t, err
		}
	}
}

// retryDelay is how long to wait after a try: as long as the API asks for, or twice as long each time, give or take
// a half, so that many runs do not come back at once.
func (x *exchange) retryDelay(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return time.Duration(float64(firstPause<<(try-1)) * (0.5 + x.jitter()))
}

// hasTime reports whether the deadline of the run leaves time for another attempt.
func (x *exchange) hasTime(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > wait
}

// cannotBegin is why the hub would not have the run begin.
type cannotBegin struct{ error }

// begin returns a function that tells the hub, once, that the model has received the prompt.
func (x *exchange) begin(ctx context.Context) func() error {
	return func() error {
		if x.begun {
			return nil
		}
		if err := x.job.Begin(ctx, parley.Process{}); err != nil {
			return cannotBegin{err}
		}
		x.begun = true
		return nil
	}
}

func (x *exchange) say(text string) {
	if text != "" {
		x.job.Say(strings.ToValidUTF8(text, "\uFFFD"))
	}
}

func (x *exchange) spend(u parley.Usage) {
	if u.Cost == 0 {
		u.Cost = x.prices.cost(x.settings.Provider, x.settings.Model, u)
	}
	x.used = x.used.Plus(u)
}

func (x *exchange) log(format string, args ...any) {
	x.job.Log([]byte(redact(fmt.Sprintf(format, args...), x.key)))
}

package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// maxContactWait is how long a contact may wait for its answer or result.
const maxContactWait = 10 * time.Minute

// contactTime is the time limit of an operation that makes a contact.
const contactTime = maxContactWait + defaultTime

type contactInput struct {
	Key  string `header:"Idempotency-Key" doc:"The same as idempotency_key in the body. The hub does not repeat a contact if the caller used the key within 24 hours."`
	Body ContactRequest
}

// ContactRequest is an ask, a delegation or a notification.
type ContactRequest struct {
	parley.Contact
	AgentID string  `json:"agentId,omitempty" doc:"The participant to contact: an id, UUID or name."`
	Tool    string  `json:"tool,omitempty" enum:"contact_agent" doc:"The name of the tool, as in the tool calls of agents. The hub refuses any other name."`
	From    string  `json:"from,omitempty" doc:"Refused unless it is the caller."`
	Wait    float64 `json:"wait,omitempty" minimum:"0" maximum:"600" doc:"How many seconds to wait for the answer of an ask (0 or missing: 120), or for the result of delegated work (0 or missing: no wait)."`
}

// ContactLine is a line of the answer to a contact whose caller accepts JSON lines. The first line says that the call waits. The
// second line has the outcome.
type ContactLine struct {
	Waiting   *parley.Contacted `json:"waiting,omitempty" doc:"The first line: the hub has stored the request, and the call waits."`
	Wait      float64           `json:"wait,omitempty" doc:"In the first line: the longest wait in seconds."`
	Contacted *parley.Contacted `json:"contacted,omitempty" doc:"The last line: the outcome."`
	Problem   *Problem          `json:"problem,omitempty" doc:"The last line of a call that failed."`
}

// contactRoute returns the route of contacts. It answers like other routes, or in lines if the caller accepts JSON lines. Such a
// caller gets the stored request before the call ends.
func contactRoute(op Operation) route {
	whole := jsonRoute(op, func(ctx context.Context, c *call, in *contactInput) (parley.Contacted, error) {
		return contact(ctx, c, in, func(parley.Contacted, time.Duration) {})
	})
	in, made := inputOf[contactInput](), whole
	made.handle = func(w *responseWriter, r *http.Request, c *call) error {
		lines := func(types string) bool { return strings.Contains(types, jsonLines) }
		if !slices.ContainsFunc(r.Header.Values("Accept"), lines) {
			return whole.handle(w, r, c)
		}
		var input contactInput
		if err := in.read(w, r, c.limit(op), &input); err != nil {
			return err
		}
		return contactLines(w, r, c, &input)
	}
	return made
}

// contactLines makes a contact and answers in two lines. A contact that does not wait gets an ordinary answer.
func contactLines(w http.ResponseWriter, r *http.Request, c *call, in *contactInput) error {
	lines, begun := &typedWriter{w, jsonLines}, false
	contacted, err := contact(r.Context(), c, in, func(made parley.Contacted, wait time.Duration) {
		begun = true
		setTraceHeader(w, c, made)
		_ = writeLine(lines, ContactLine{Waiting: &made, Wait: wait.Seconds()}) // if the caller has disconnected, the context ends the call
	})
	switch {
	case !begun && err != nil:
		return err
	case !begun:
		setTraceHeader(w, c, contacted)
		writeJSON(w, http.StatusOK, contacted)
		return nil
	case err != nil:
		failed := problemOf(err)
		return writeLine(lines, ContactLine{Problem: &failed})
	default:
		return writeLine(lines, ContactLine{Contacted: &contacted})
	}
}

// contact contacts another participant. If the caller of an ask disconnects, the answer becomes a message. onStored is called
// with the stored request before the call waits.
func contact(ctx context.Context, c *call, in *contactInput, onStored func(parley.Contacted, time.Duration)) (parley.Contacted, error) {
	made := in.Body.Contact
	var err error
	if made.Agent, err = parley.ContactTarget(in.Body.Tool, in.Body.AgentID, made.Agent); err != nil {
		return parley.Contacted{}, err
	}
	if made.Wait = seconds(in.Body.Wait); made.Wait < 0 || made.Wait > maxContactWait {
		return parley.Contacted{}, parley.Errorf(parley.BadInput, "the wait is %g seconds", in.Body.Wait).
			Suggest("wait 0 to %g seconds; the hub delivers a later answer as a message", maxContactWait.Seconds())
	}
	if made.IdempotencyKey, err = idempotencyKey(in.Key, made.IdempotencyKey); err != nil {
		return parley.Contacted{}, err
	}
	if err := c.checkSender(ctx, "contact", in.Body.From); err != nil {
		return parley.Contacted{}, err
	}
	out, err := whileWaiting(ctx, c, func(ctx context.Context) (parley.Contacted, error) {
		return c.hub.ContactTelling(ctx, c.caller, made, onStored)
	})
	if err != nil && out.Message != "" && parley.CodeOf(err) != parley.NotPermitted {
		out.Text = parley.AsError(err).Sentence()
		err = contactError{err, out}
	}
	return out, err
}

type awaitOutcomeInput struct {
	ID   string  `path:"id" doc:"The id of a message, an ask, a task or an approval." example:"task-101"`
	Wait float64 `query:"wait" minimum:"0" maximum:"50" doc:"How many seconds to wait for the outcome."`
}

// awaitOutcome waits for the message, ask, task or approval with an id. If that has failed, the call itself still succeeds,
// and its answer has the failure.
func awaitOutcome(ctx context.Context, c *call, in *awaitOutcomeInput) (parley.Awaited, error) {
	wait, err := checkWait(in.Wait)
	if err != nil {
		return parley.Awaited{}, err
	}
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.Awaited, error) {
		return c.hub.AwaitOutcome(ctx, c.caller, in.ID, wait)
	})
}

// contactError is the error of a call whose contact the hub has made. The answer has the contact.
type contactError struct {
	error
	contacted parley.Contacted
}

func (u contactError) Unwrap() error { return u.error }

// checkSender returns E001 if the body names a sender that is not the caller.
func (c *call) checkSender(ctx context.Context, act, from string) error {
	if from == "" {
		return nil
	}
	mine, err := c.isMe(ctx, from)
	if mine || err != nil {
		return err
	}
	refused := parley.Errorf(parley.NotPermitted, "%s cannot send as %q", c.caller.Agent, shorten(from)).
		Suggest("leave the sender out: it is known from the credential")
	c.hub.Refused(c.caller, act, refused)
	return refused
}

// isMe reports whether a name is the caller's. It looks up no other participant, because not every caller may do that.
func (c *call) isMe(ctx context.Context, name string) (bool, error) {
	me, err := c.hub.Me(ctx, c.caller)
	folded := parley.Fold(name)
	return folded == me.ID || folded == parley.Fold(me.Name) || folded == me.UUID, err
}

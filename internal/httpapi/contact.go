package httpapi

import (
	"cmp"
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// longestContact is how long a contact may wait for its answer or result.
const longestContact = 10 * time.Minute

// contactTime is what an operation has that makes a contact.
const contactTime = longestContact + defaultTime

type madeContact struct {
	Key  string `header:"Idempotency-Key" doc:"The same as idempotency_key in the body: a contact with a key that its caller has used within 24 hours is not made again."`
	Body ContactRequest
}

// ContactRequest says whom to turn to, how and with what.
type ContactRequest struct {
	parley.Contact
	From string  `json:"from,omitempty" doc:"Refused unless it is the caller."`
	Wait float64 `json:"wait,omitempty" minimum:"0" maximum:"600" doc:"How many seconds to wait for the answer of an ask (0 or absent: 120), or for the result of what is delegated (0 or absent: not at all)."`
}

// contact turns to another participant. An ask whose caller goes away is not lost: its answer becomes a message.
func contact(ctx context.Context, c call, in *madeContact) (parley.Contacted, error) {
	made := in.Body.Contact
	if made.Wait = seconds(in.Body.Wait); made.Wait < 0 || made.Wait > longestContact {
		return parley.Contacted{}, parley.Errorf(parley.BadInput, "the wait is %g seconds", in.Body.Wait).
			Suggest("wait 0 to %g; what comes later comes as a message", longestContact.Seconds())
	}
	var err error
	if made.IdempotencyKey, err = oneKey(in.Key, made.IdempotencyKey); err != nil {
		return parley.Contacted{}, err
	}
	if err := c.checkClaim(ctx, "contact", in.Body.From); err != nil {
		return parley.Contacted{}, err
	}
	out, err := waits(ctx, c, func(ctx context.Context) (parley.Contacted, error) { return c.hub.Contact(ctx, c.caller, made) })
	if err != nil && out.Message != "" && parley.CodeOf(err) != parley.NotPermitted {
		err = unanswered{err, out}
	}
	return out, err
}

// unanswered is the error of a contact that was made. Its caller is told which it is.
type unanswered struct {
	error
	contacted parley.Contacted
}

func (u unanswered) Unwrap() error { return u.error }

// oneKey is the idempotency key of a call, which may be given in two places.
func oneKey(header, body string) (string, error) {
	if header != "" && body != "" && header != body {
		return "", parley.Errorf(parley.BadInput, "the Idempotency-Key header and idempotency_key are not the same").Suggest("give one of the two")
	}
	return cmp.Or(header, body), nil
}

// checkClaim refuses a body that says it is from somebody else than its caller.
func (c call) checkClaim(ctx context.Context, act, from string) error {
	if from == "" {
		return nil
	}
	mine, err := c.isMe(ctx, from)
	if mine || err != nil {
		return err
	}
	refused := parley.Errorf(parley.NotPermitted, "%s cannot send as %q", c.caller.Agent, clip(from)).
		Suggest("leave the sender out: it is known from the credential")
	c.hub.Refused(c.caller, act, refused)
	return refused
}

// isMe says whether a name is the caller's. Nobody else is looked up for it: not every caller may do that.
func (c call) isMe(ctx context.Context, name string) (bool, error) {
	me, err := c.hub.Me(ctx, c.caller)
	folded := parley.Fold(name)
	return folded == me.ID || folded == parley.Fold(me.Name) || folded == me.UUID, err
}

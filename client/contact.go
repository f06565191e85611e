package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// MaxContactWait is how long a contact may wait for its answer or result.
const MaxContactWait = 10 * time.Minute

// ContactOptions are callbacks for the caller of a contact that waits. Either function may be nil.
type ContactOptions struct {
	// Made is called when the hub has stored the request: with its message, and with its task. It is called once, before the
	// answer comes.
	OnStored func(parley.Contacted)
	// Away is called each time the hub cannot be reached, before the call is repeated.
	OnUnreachable func(error)
}

// Contact turns to another participant: it asks, delegates or notifies. An ask waits for its answer; one that
// is late comes as E004 with what was asked, and its answer follows as a message. *parley.Held if somebody must
// approve it first.
//
// A call that waits survives a restart of the hub and a broken connection: Contact repeats it with its idempotency key and
// waits for the same answer until the first deadline. It makes a key if the call has none.
func (c *Client) Contact(ctx context.Context, contact parley.Contact) (parley.Contacted, error) {
	return c.ContactWith(ctx, contact, ContactOptions{})
}

// ContactWith is Contact with callbacks.
func (c *Client) ContactWith(ctx context.Context, contact parley.Contact, o ContactOptions) (parley.Contacted, error) {
	for _, text := range []string{contact.Agent, contact.Message, contact.Context, contact.IdempotencyKey} {
		if !utf8.ValidString(text) {
			return parley.Contacted{}, notUTF8(text)
		}
	}
	call := contactCall{Client: c, ContactOptions: o, contact: contact, key: contact.IdempotencyKey}
	if call.key == "" {
		call.key = parley.CallKey(rand.Text())
	}
	call.deadline = time.Now().Add(call.waitTime())
	contacted, err := call.attempt(ctx)
	if neverSent(err) {
		return contacted, err // the hub was not there from the start
	}
	return call.repeat(ctx, contacted, err)
}

// contacting is one contact, which may take several calls.
type contactCall struct {
	*Client
	ContactOptions
	contact  parley.Contact
	key      string
	stored   parley.Contacted // what the hub has stored, if that is known
	deadline time.Time        // when the wait ends
}

// patience is how long a contact waits. For an ask without a wait of its own, the hub says so once it has stored the ask.
func (call *contactCall) waitTime() time.Duration {
	if call.contact.Pattern == parley.PatternAsk && call.contact.Wait == 0 {
		return parley.AskWait
	}
	return min(call.contact.Wait, MaxContactWait)
}

// awayPause is how long to wait before a call is made again.
const repeatPause = 300 * time.Millisecond

// again repeats a call while the hub is away, until the time is up.
func (call *contactCall) repeat(ctx context.Context, contacted parley.Contacted, err error) (parley.Contacted, error) {
	for Unreachable(err) {
		left := time.Until(call.deadline)
		if left <= 0 {
			return call.stored, call.timeUpError(err)
		}
		if call.OnUnreachable != nil {
			call.OnUnreachable(err)
		}
		select {
		case <-time.After(min(repeatPause, left)):
		case <-ctx.Done():
			return call.stored, context.Cause(ctx)
		}
		contacted, err = call.attempt(ctx)
	}
	if err != nil && contacted.Message == "" {
		contacted = call.stored // so that the caller knows what goes on without it
	}
	if contacted.Message == call.stored.Message && contacted.Notices == nil { // the repeated call stored nothing
		contacted.Notices, contacted.UnknownMentions = call.stored.Notices, call.stored.UnknownMentions
	}
	contacted.Duplicate = contacted.Duplicate && call.contact.IdempotencyKey != "" // by a key of the client it is still the one call
	return contacted, err
}

// gone is the error of a call during which the hub stayed away until the wait was over.
func (call *contactCall) timeUpError(err error) error {
	if call.waitTime() == 0 {
		return err
	}
	if call.stored.Message == "" {
		return parley.Errorf(parley.TimedOut, "the hub went away before it confirmed the request").
			Suggest("check whether the request was carried out before you repeat it").From(err)
	}
	return parley.Errorf(parley.TimedOut, "the hub went away; it has accepted the request").
		Suggest("wait for it once the hub is back: parley wait %s", call.stored.ShortName()).From(err)
}

// contactLine is a line of an answer, or the whole answer to a call that did not wait.
type contactLine struct {
	parley.Contacted
	Waiting *parley.Contacted `json:"waiting"`
	Wait    float64           `json:"wait"`
	Done    *parley.Contacted `json:"contacted"`
	Problem *problem          `json:"problem"`
}

// once makes the call.
func (call *contactCall) attempt(ctx context.Context) (contacted parley.Contacted, err error) {
	in := struct {
		parley.Contact
		Wait float64 `json:"wait,omitempty"`
	}{call.contact, min(call.contact.Wait, MaxContactWait).Seconds()}
	if call.stored.Message != "" && in.Wait > 0 { // of a call that is made again only the rest
		in.Wait = max(time.Until(call.deadline), time.Millisecond).Seconds()
	}
	r := request{method: http.MethodPost, key: call.key, accept: "application/jsonl"}
	err = call.exchange(ctx, r, in, callTime(call.contact), func(body io.Reader) (err error) {
		contacted, err = call.read(body)
		return err
	}, "contact")
	if late, ok := errors.AsType[*contactError](err); ok {
		return late.contacted, late.error
	}
	return contacted, err
}

// read reads an answer line by line, to the last.
func (call *contactCall) read(body io.Reader) (parley.Contacted, error) {
	lines := json.NewDecoder(io.LimitReader(body, maxAnswer))
	for {
		var line contactLine
		switch err := lines.Decode(&line); {
		case err != nil:
			return parley.Contacted{}, call.decodeError(err)
		case line.Waiting != nil:
			call.noteStored(*line.Waiting, line.Wait)
		case line.Done != nil:
			return *line.Done, nil
		case line.Problem != nil:
			return parley.Contacted{}, line.Problem.withContact(line.Problem.asError())
		default:
			return line.Contacted, nil
		}
	}
}

// stored notes what the hub has stored, and until when it waits.
func (call *contactCall) noteStored(stored parley.Contacted, wait float64) {
	first := call.stored.Message == ""
	if call.stored = stored; !first {
		return
	}
	if call.contact.Wait == 0 {
		call.deadline = time.Now().Add(min(time.Duration(wait*float64(time.Second)), MaxContactWait))
	}
	if call.OnStored != nil {
		call.OnStored(stored)
	}
}

// unreadable is what is wrong with an answer that cannot be read: the connection broke off, or no hub has written it.
func (c *Client) decodeError(err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || kind {
		return c.notAHub("an answer that is not what was asked for").From(err)
	}
	return c.connectionError(err)
}

// contactTime is how long the answer to a contact may take. How long an ask waits that says nothing is the hub's
// to say.
func callTime(contact parley.Contact) time.Duration {
	if contact.Pattern == parley.PatternAsk && contact.Wait == 0 {
		return MaxContactWait
	}
	return min(contact.Wait, MaxContactWait)
}

// unanswered is the error of a contact that was made.
type contactError struct {
	error
	contacted parley.Contacted
}

func (u *contactError) Unwrap() error { return u.error }

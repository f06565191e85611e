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
	// OnStored is called once, when the hub has stored the request and before the answer comes. Its argument has the message and
	// the task of the request.
	OnStored func(parley.Contacted)
	// OnUnreachable is called with the error each time the hub cannot be reached, before the client repeats the call.
	OnUnreachable func(error)
}

// Contact asks another participant, delegates work to it, or notifies it. An ask waits for its answer. If the answer is late,
// Contact returns E004 together with the stored request, and the hub delivers the answer as a message. If the call needs an
// approval, Contact returns *parley.Held.
//
// A call that waits survives a restart of the hub and a broken connection: Contact repeats it with its idempotency key and
// waits for the same answer until the first deadline. If the call has no key, Contact makes one.
func (c *Client) Contact(ctx context.Context, contact parley.Contact) (parley.Contacted, error) {
	return c.ContactWith(ctx, contact, ContactOptions{})
}

// ContactWith does the same as Contact, and calls the callbacks in o.
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
		return contacted, err // the hub was not running when the call began
	}
	return call.repeat(ctx, contacted, err)
}

// contactCall is one contact, which may take several HTTP calls.
type contactCall struct {
	*Client
	ContactOptions
	contact  parley.Contact
	key      string
	stored   parley.Contacted // the stored request; empty until the hub confirms it
	deadline time.Time        // when the wait ends
}

// waitTime returns how long a contact waits. For an ask without a wait of its own it is an estimate: the hub sends the wait
// when it has stored the ask.
func (call *contactCall) waitTime() time.Duration {
	if call.contact.Pattern == parley.PatternAsk && call.contact.Wait == 0 {
		return parley.AskWait
	}
	return min(call.contact.Wait, MaxContactWait)
}

// repeatPause is the pause before the client repeats a call.
const repeatPause = 300 * time.Millisecond

// repeat repeats a call while the hub cannot be reached, until the time is up.
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
		contacted = call.stored // so that the caller knows which request goes on
	}
	if contacted.Message == call.stored.Message && contacted.Notices == nil { // the repeated call stored nothing
		contacted.Notices, contacted.UnknownMentions = call.stored.Notices, call.stored.UnknownMentions
	}
	contacted.Duplicate = contacted.Duplicate && call.contact.IdempotencyKey != "" // a repeat with the client's own key is no duplicate
	return contacted, err
}

// timeUpError returns the error of a call whose wait ended while the hub could not be reached. err is the last error. If the
// call did not wait, timeUpError returns err.
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

// contactLine is one line of the answer, or the whole answer to a call that did not wait.
type contactLine struct {
	parley.Contacted
	Waiting *parley.Contacted `json:"waiting"`
	Wait    float64           `json:"wait"`
	Done    *parley.Contacted `json:"contacted"`
	Problem *problem          `json:"problem"`
}

// attempt makes one HTTP call.
func (call *contactCall) attempt(ctx context.Context) (contacted parley.Contacted, err error) {
	in := struct {
		parley.Contact
		Wait float64 `json:"wait,omitempty"`
	}{call.contact, min(call.contact.Wait, MaxContactWait).Seconds()}
	if call.stored.Message != "" && in.Wait > 0 { // a repeated call waits only for the rest of the time
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

// read reads the lines of an answer, up to the line with the outcome.
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

// noteStored keeps the stored request, and the deadline of the hub's wait.
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

// decodeError returns the error of an answer that cannot be decoded: the connection broke, or the server is not a hub.
func (c *Client) decodeError(err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || kind {
		return c.notAHub("an answer that is not what was asked for").From(err)
	}
	return c.connectionError(err)
}

// callTime returns how long one HTTP call of a contact may wait. The hub decides how long an ask without a wait of its own
// waits, so callTime returns the maximum for it.
func callTime(contact parley.Contact) time.Duration {
	if contact.Pattern == parley.PatternAsk && contact.Wait == 0 {
		return MaxContactWait
	}
	return min(contact.Wait, MaxContactWait)
}

// contactError is the error of a call whose contact the hub has made nevertheless.
type contactError struct {
	error
	contacted parley.Contacted
}

func (u *contactError) Unwrap() error { return u.error }

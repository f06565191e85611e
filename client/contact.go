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
	Made func(parley.Contacted)
	// Away is called each time the hub cannot be reached, before the call is repeated.
	Away func(error)
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
	call := contacting{Client: c, ContactOptions: o, contact: contact, key: contact.IdempotencyKey}
	if call.key == "" {
		call.key = parley.CallKey(rand.Text())
	}
	call.until = time.Now().Add(call.patience())
	told, err := call.once(ctx)
	if unheard(err) {
		return told, err // the hub was not there from the start
	}
	return call.again(ctx, told, err)
}

// contacting is one contact, which may take several calls.
type contacting struct {
	*Client
	ContactOptions
	contact parley.Contact
	key     string
	made    parley.Contacted // what the hub has stored, if that is known
	until   time.Time        // when the wait ends
}

// patience is how long a contact waits. For an ask without a wait of its own, the hub says so once it has stored the ask.
func (call *contacting) patience() time.Duration {
	if call.contact.Pattern == parley.PatternAsk && call.contact.Wait == 0 {
		return parley.AskWait
	}
	return min(call.contact.Wait, MaxContactWait)
}

// awayPause is how long to wait before a call is made again.
const awayPause = 300 * time.Millisecond

// again repeats a call while the hub is away, until the time is up.
func (call *contacting) again(ctx context.Context, told parley.Contacted, err error) (parley.Contacted, error) {
	for Away(err) {
		left := time.Until(call.until)
		if left <= 0 {
			return call.made, call.gone(err)
		}
		if call.Away != nil {
			call.Away(err)
		}
		select {
		case <-time.After(min(awayPause, left)):
		case <-ctx.Done():
			return call.made, context.Cause(ctx)
		}
		told, err = call.once(ctx)
	}
	if err != nil && told.Message == "" {
		told = call.made // so that the caller knows what goes on without it
	}
	if told.Message == call.made.Message && told.Notices == nil { // the repeated call stored nothing
		told.Notices, told.UnknownMentions = call.made.Notices, call.made.UnknownMentions
	}
	told.Duplicate = told.Duplicate && call.contact.IdempotencyKey != "" // by a key of the client it is still the one call
	return told, err
}

// gone is the error of a call during which the hub stayed away until the wait was over.
func (call *contacting) gone(err error) error {
	if call.patience() == 0 {
		return err
	}
	if call.made.Message == "" {
		return parley.Errorf(parley.TimedOut, "the hub went away before it confirmed the request").
			Suggest("check whether the request was carried out before you repeat it").From(err)
	}
	return parley.Errorf(parley.TimedOut, "the hub went away; it has accepted the request").
		Suggest("wait for it once the hub is back: parley wait %s", call.made.ShortName()).From(err)
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
func (call *contacting) once(ctx context.Context) (told parley.Contacted, err error) {
	in := struct {
		parley.Contact
		Wait float64 `json:"wait,omitempty"`
	}{call.contact, min(call.contact.Wait, MaxContactWait).Seconds()}
	if call.made.Message != "" && in.Wait > 0 { // of a call that is made again only the rest
		in.Wait = max(time.Until(call.until), time.Millisecond).Seconds()
	}
	r := request{method: http.MethodPost, key: call.key, accept: "application/jsonl"}
	err = call.exchange(ctx, r, in, contactTime(call.contact), func(body io.Reader) (err error) {
		told, err = call.read(body)
		return err
	}, "contact")
	if late, ok := errors.AsType[*unanswered](err); ok {
		return late.contacted, late.error
	}
	return told, err
}

// read reads an answer line by line, to the last.
func (call *contacting) read(body io.Reader) (parley.Contacted, error) {
	lines := json.NewDecoder(io.LimitReader(body, maxAnswer))
	for {
		var line contactLine
		switch err := lines.Decode(&line); {
		case err != nil:
			return parley.Contacted{}, call.unreadable(err)
		case line.Waiting != nil:
			call.stored(*line.Waiting, line.Wait)
		case line.Done != nil:
			return *line.Done, nil
		case line.Problem != nil:
			return parley.Contacted{}, line.Problem.about(line.Problem.error())
		default:
			return line.Contacted, nil
		}
	}
}

// stored notes what the hub has stored, and until when it waits.
func (call *contacting) stored(made parley.Contacted, wait float64) {
	first := call.made.Message == ""
	if call.made = made; !first {
		return
	}
	if call.contact.Wait == 0 {
		call.until = time.Now().Add(min(time.Duration(wait*float64(time.Second)), MaxContactWait))
	}
	if call.Made != nil {
		call.Made(made)
	}
}

// unreadable is what is wrong with an answer that cannot be read: the connection broke off, or no hub has written it.
func (c *Client) unreadable(err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || kind {
		return c.strange("an answer that is not what was asked for").From(err)
	}
	return c.unreachable(err)
}

// contactTime is how long the answer to a contact may take. How long an ask waits that says nothing is the hub's
// to say.
func contactTime(contact parley.Contact) time.Duration {
	if contact.Pattern == parley.PatternAsk && contact.Wait == 0 {
		return MaxContactWait
	}
	return min(contact.Wait, MaxContactWait)
}

// unanswered is the error of a contact that was made.
type unanswered struct {
	error
	contacted parley.Contacted
}

func (u *unanswered) Unwrap() error { return u.error }

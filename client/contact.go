package client

import (
	"context"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// LongestContact is how long a contact may wait for its answer or result.
const LongestContact = 10 * time.Minute

// Contact turns to another participant: it asks, delegates or notifies. An ask waits for its answer; one that
// is late comes as E004 with what was asked, and its answer follows as a message. *parley.Held if somebody must
// approve it first.
func (c *Client) Contact(ctx context.Context, contact parley.Contact) (parley.Contacted, error) {
	for _, text := range []string{contact.Agent, contact.Message, contact.Context, contact.IdempotencyKey} {
		if !utf8.ValidString(text) {
			return parley.Contacted{}, notUTF8(text)
		}
	}
	in := struct {
		parley.Contact
		Wait float64 `json:"wait,omitempty"`
	}{contact, min(contact.Wait, LongestContact).Seconds()}
	r := request{method: http.MethodPost, key: contact.IdempotencyKey}
	contacted, err := callWith[parley.Contacted](ctx, c, r, in, contactTime(contact), "contact")
	if late, ok := errors.AsType[*unanswered](err); ok {
		return late.contacted, late.error
	}
	return contacted, err
}

// contactTime is how long the answer to a contact may take. How long an ask waits that says nothing is the hub's
// to say.
func contactTime(contact parley.Contact) time.Duration {
	if contact.Pattern == parley.PatternAsk && contact.Wait == 0 {
		return LongestContact
	}
	return min(contact.Wait, LongestContact)
}

// unanswered is the error of a contact that was made.
type unanswered struct {
	error
	contacted parley.Contacted
}

func (u *unanswered) Unwrap() error { return u.error }

package chat

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// maxAttempts is how often the chat sends a message to a hub that refuses it for now. Attempts that do not reach the
// hub do not count.
const maxAttempts = 5

// outbox has the messages that the user sent and that are not in the conversation yet. It sends one message at a time,
// in order.
type outbox struct {
	messages []outgoing
	sending  bool
	attempts int // failed attempts to send the first unsent message
}

// outgoing is a message in the outbox. With its idempotency key, the hub stores it once, however often the chat sends
// it.
type outgoing struct {
	draft parley.Draft
	at    time.Time
	id    string // id of the message, after the hub has accepted it
}

func (o *outbox) add(draft parley.Draft, now time.Time) {
	draft.IdempotencyKey = uuid.NewString()
	o.messages = append(o.messages, outgoing{draft: draft, at: now})
}

// next returns the draft to send now, if there is one.
func (o *outbox) next() (parley.Draft, bool) {
	waiting := slices.IndexFunc(o.messages, func(l outgoing) bool { return l.id == "" })
	if o.sending || waiting < 0 {
		return parley.Draft{}, false
	}
	o.sending = true
	return o.messages[waiting].draft, true
}

// markAccepted notes that the hub has stored a message.
func (o *outbox) markAccepted(key, id string) {
	o.sending, o.attempts = false, 0
	for i := range o.messages {
		if o.messages[i].draft.IdempotencyKey == key {
			o.messages[i].id = id
		}
	}
}

// markRefused notes that the hub has probably not stored a message. If that is final, it removes the message.
func (o *outbox) markRefused(key string, err error) (final bool) {
	o.sending = false
	if errors.Is(err, ErrUnreachable) {
		return false
	}
	if o.attempts++; isTemporary(err) && o.attempts < maxAttempts {
		return false
	}
	o.attempts = 0
	o.remove(func(l outgoing) bool { return l.draft.IdempotencyKey == key })
	return true
}

// markArrived removes the messages that the conversation shows. A message of unknown fate that the conversation shows
// has been stored.
func (o *outbox) markArrived(list []parley.Message) {
	for _, m := range list {
		o.remove(func(l outgoing) bool {
			return l.id == m.ID || m.IdempotencyKey != "" && l.draft.IdempotencyKey == m.IdempotencyKey
		})
	}
}

func (o *outbox) remove(which func(outgoing) bool) { o.messages = slices.DeleteFunc(o.messages, which) }

// unsent returns the messages that the hub has not confirmed.
func (o *outbox) unsent() []outgoing {
	return slices.DeleteFunc(slices.Clone(o.messages), func(l outgoing) bool { return l.id != "" })
}

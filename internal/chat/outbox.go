package chat

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// maxAttempts is how often a message is sent to a hub that answers that it cannot take it now. While the hub
// cannot be reached, nothing counts.
const maxAttempts = 5

// outbox is what was typed and has not been seen in the conversation yet. It goes out one message at a
// time, in order.
type outbox struct {
	messages []outgoing
	sending  bool
	attempts int // failed ones, of the first letter that waits
}

// outgoing is a message on its way. Its key makes sure that it is stored once, however often it is sent.
type outgoing struct {
	draft parley.Draft
	at    time.Time
	id    string // of the message, once the hub has said yes
}

func (o *outbox) add(draft parley.Draft, now time.Time) {
	draft.IdempotencyKey = uuid.NewString()
	o.messages = append(o.messages, outgoing{draft: draft, at: now})
}

// next is what to send now, if anything.
func (o *outbox) next() (parley.Draft, bool) {
	waiting := slices.IndexFunc(o.messages, func(l outgoing) bool { return l.id == "" })
	if o.sending || waiting < 0 {
		return parley.Draft{}, false
	}
	o.sending = true
	return o.messages[waiting].draft, true
}

// markAccepted notes that the hub has stored a letter.
func (o *outbox) markAccepted(key, id string) {
	o.sending, o.attempts = false, 0
	for i := range o.messages {
		if o.messages[i].draft.IdempotencyKey == key {
			o.messages[i].id = id
		}
	}
}

// markRefused notes that a letter was not stored, as far as is known. If that is final, the letter is taken out.
func (o *outbox) markRefused(key string, err error) (final bool) {
	o.sending = false
	if errors.Is(err, ErrAway) {
		return false
	}
	if o.attempts++; isTemporary(err) && o.attempts < maxAttempts {
		return false
	}
	o.attempts = 0
	o.remove(func(l outgoing) bool { return l.draft.IdempotencyKey == key })
	return true
}

// markArrived takes out the letters that are shown as messages. One of unknown fate has been stored, then.
func (o *outbox) markArrived(list []parley.Message) {
	for _, m := range list {
		o.remove(func(l outgoing) bool {
			return l.id == m.ID || m.IdempotencyKey != "" && l.draft.IdempotencyKey == m.IdempotencyKey
		})
	}
}

func (o *outbox) remove(which func(outgoing) bool) { o.messages = slices.DeleteFunc(o.messages, which) }

// unsent are the letters nobody knows to be stored.
func (o *outbox) unsent() []outgoing {
	return slices.DeleteFunc(slices.Clone(o.messages), func(l outgoing) bool { return l.id != "" })
}

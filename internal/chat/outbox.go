package chat

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// mostTries is how often a message is sent to a hub that answers that it cannot take it now. While the hub
// cannot be reached, nothing counts.
const mostTries = 5

// outbox is what was typed and has not been seen in the conversation yet. It goes out one message at a
// time, in order.
type outbox struct {
	letters []letter
	sending bool
	tries   int // failed ones, of the first letter that waits
}

// letter is a message on its way. Its key makes sure that it is stored once, however often it is sent.
type letter struct {
	draft parley.Draft
	at    time.Time
	id    string // of the message, once the hub has said yes
}

func (o *outbox) put(draft parley.Draft, now time.Time) {
	draft.IdempotencyKey = uuid.NewString()
	o.letters = append(o.letters, letter{draft: draft, at: now})
}

// next is what to send now, if anything.
func (o *outbox) next() (parley.Draft, bool) {
	waiting := slices.IndexFunc(o.letters, func(l letter) bool { return l.id == "" })
	if o.sending || waiting < 0 {
		return parley.Draft{}, false
	}
	o.sending = true
	return o.letters[waiting].draft, true
}

// accepted notes that the hub has stored a letter.
func (o *outbox) accepted(key, id string) {
	o.sending, o.tries = false, 0
	for i := range o.letters {
		if o.letters[i].draft.IdempotencyKey == key {
			o.letters[i].id = id
		}
	}
}

// refused notes that a letter was not stored, as far as is known. If that is final, the letter is taken out.
func (o *outbox) refused(key string, err error) (final bool) {
	o.sending = false
	if errors.Is(err, ErrAway) {
		return false
	}
	if o.tries++; passes(err) && o.tries < mostTries {
		return false
	}
	o.tries = 0
	o.drop(func(l letter) bool { return l.draft.IdempotencyKey == key })
	return true
}

// arrived takes out the letters that are shown as messages. One of unknown fate has been stored, then.
func (o *outbox) arrived(list []parley.Message) {
	for _, m := range list {
		o.drop(func(l letter) bool {
			return l.id == m.ID || m.IdempotencyKey != "" && l.draft.IdempotencyKey == m.IdempotencyKey
		})
	}
}

func (o *outbox) drop(which func(letter) bool) { o.letters = slices.DeleteFunc(o.letters, which) }

// unsent are the letters nobody knows to be stored.
func (o *outbox) unsent() []letter {
	return slices.DeleteFunc(slices.Clone(o.letters), func(l letter) bool { return l.id != "" })
}

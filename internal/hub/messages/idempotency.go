package messages

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FindKeyed returns the id of the message, or of the task of its own, that the caller has given a key, or nothing.
func FindKeyed(u *unit.Unit, key string) (id string, err error) {
	if key == "" {
		return "", nil
	}
	id, err = u.Messages().Keyed(u.Me.ID, key, u.Now.Add(-unit.KeyMemory))
	return id, unit.IgnoreNotFound(err)
}

// KeyUsedError is the error for an idempotency key that was used for something else.
func KeyUsedError(key string) error {
	return parley.Errorf(parley.BadInput, "the idempotency key %q was used for something else", key).
		Because(parley.Conflict).Suggest("use another key")
}

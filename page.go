package parley

import (
	"errors"
	"time"
)

// The errors of a store that callers handle. Every other error of a store is an *Error or a failure of the database.
var (
	// ErrNotFound means that no row has the given key.
	ErrNotFound = errors.New("not found")
	// ErrTaken means that a unique name, set or key is in use.
	ErrTaken = errors.New("already taken")
)

// Clock tells the time.
type Clock interface {
	// Now returns the current wall-clock time. It cannot fail.
	Now() time.Time
}

// Page selects a part of a conversation. With Forward, it selects the first Limit messages after the seq After. Otherwise it
// selects the last Limit messages before the seq Before (0: the newest messages).
type Page struct {
	Forward bool
	After   int64
	Before  int64
	Limit   int
}

// PageBytes is the size (see Message.Size) at which a page ends even if it has fewer messages than its limit.
const PageBytes = 1 << 20

// Last reports whether a returned page is certainly the last one: it has fewer messages than the limit, and is too small to have
// been cut at PageBytes.
func (p Page) Last(list []Message) bool {
	size := 0
	for _, m := range list {
		size += m.Size()
	}
	return len(list) < p.Limit && size <= PageBytes/4
}

package parley

import (
	"errors"
	"time"
)

// What a store says beside success. Everything else it returns is an *Error or a failure of the
// database itself.
var (
	// ErrNotFound says that no row has the key asked for.
	ErrNotFound = errors.New("not found")
	// ErrTaken says that a name, set or key that must be unique is in use.
	ErrTaken = errors.New("already taken")
)

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// Page is a part of a conversation: going forward, the first Limit messages after the seq After;
// else the last Limit ones before the seq Before (0: the newest).
type Page struct {
	Forward bool
	After   int64
	Before  int64
	Limit   int
}

// PageBytes is the size, in bytes that senders wrote, at which a page ends, whatever its limit.
const PageBytes = 1 << 20

// Last reports whether the page that was returned is certainly the last: it has fewer messages than its limit, and is too
// small to have been cut for its size.
func (p Page) Last(list []Message) bool {
	size := 0
	for _, m := range list {
		size += m.Size()
	}
	return len(list) < p.Limit && size <= PageBytes/4
}

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// NoticeStore keeps the notices that the hub sends to people outside of the hub.
type NoticeStore interface {
	// Insert adds a notice. It returns ErrTaken if its id is in use, or if the person has a notice with the same key. It returns
	// ErrNotFound if there is no such person.
	Insert(parley.Notice) error
	// Due returns the notices that are not done and whose NextAt has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Notice, error)
	// About returns the notices about an approval that are not done, or an empty list.
	About(approval string) ([]parley.Notice, error)
	// Put stores the progress of a notice. It does not change the text and the person. It returns ErrNotFound if there is none.
	Put(parley.Notice) error
	// Forget erases up to limit notices that are done and that were made before a time, and returns how many it erased.
	Forget(before time.Time, limit int) (int, error)
}

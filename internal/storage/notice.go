package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// NoticeStore keeps notifications to people outside of the hub.
type NoticeStore interface {
	// Insert adds a notice. ErrTaken if its id is in use, or its person has one with the same key. ErrNotFound if
	// there is no such person.
	Insert(parley.Notice) error
	// Due returns those that are not done and whose NextAt has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Notice, error)
	// About returns those about an approval that are not done.
	About(approval string) ([]parley.Notice, error)
	// Put stores the progress of a notice; its text and its person stay. ErrNotFound if there is none.
	Put(parley.Notice) error
	// Forget erases up to limit notices that were made before a time and are done, and returns how many.
	Forget(before time.Time, limit int) (int, error)
}

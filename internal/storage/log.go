package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// LogStore keeps the event log and the audit log. Only Prune erases events. Nothing erases audit entries.
type LogStore interface {
	// Append adds events and gives each its Num. The caller does not append an event for a message: see MessageStore.Insert. It
	// returns ErrNotFound if a participant of an event does not exist.
	Append(...parley.Event) error
	// Events returns events with a number greater than after, in order, at most limit. Each message is an event
	// EventMessagePosted, whose number is the message's seq.
	Events(after int64, limit int) ([]parley.Event, error)
	// Bounds returns the numbers of the oldest and the newest event, or 0 and 0 if there never was an event. If all events were
	// erased, oldest is the number after newest.
	Bounds() (oldest, newest int64, err error)
	// Prune erases up to limit of the oldest events and returns how many it erased. It stops at the first event that did not
	// happen before the given time. It does not erase messages, so their events stay.
	Prune(before time.Time, limit int) (int, error)
	// AppendAudit adds an entry to the audit log and gives it its Num and Hash.
	AppendAudit(parley.AuditEntry) error
	// AuditEntries returns audit entries with a number greater than after, in order, at most limit.
	AuditEntries(after int64, limit int) ([]parley.AuditEntry, error)
	// AuditHead returns the number and hash of the newest audit entry, or zeros.
	AuditHead() (parley.AuditHead, error)
}

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// LogStore keeps the event log and the audit log. Both only grow, but for Prune.
type LogStore interface {
	// Append adds events. Their Num is given by the store. Messages are not appended: see
	// MessageStore.Insert.
	Append(...parley.Event) error
	// Events returns events with a number greater than after, in order, at most limit. Among them is
	// EventMessagePosted for each message, at its seq.
	Events(after int64, limit int) ([]parley.Event, error)
	// Bounds returns the numbers the log reaches from and to, or 0, 0. If all was erased, it reaches from
	// the number after the newest.
	Bounds() (oldest, newest int64, err error)
	// Prune erases up to limit of the oldest events, none at or after one that is not from before a time,
	// and says how many. Those of messages stay with their messages.
	Prune(before time.Time, limit int) (int, error)
	// Audit adds an entry. Its Num and Hash are given by the store.
	AppendAudit(parley.AuditEntry) error
	// Audited returns audit entries with a number greater than after, in order, at most limit.
	AuditEntries(after int64, limit int) ([]parley.AuditEntry, error)
	// AuditHead returns the number and hash of the newest audit entry, or zeros.
	AuditHead() (parley.AuditHead, error)
}

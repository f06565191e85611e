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
	Audit(parley.AuditEntry) error
	// Audited returns audit entries with a number greater than after, in order, at most limit.
	Audited(after int64, limit int) ([]parley.AuditEntry, error)
	// AuditHead returns the number and hash of the newest audit entry, or zeros.
	AuditHead() (parley.AuditHead, error)
}

// OldMessage is what retention looks at.
type OldMessage struct {
	Seq       int64
	CreatedAt time.Time
	Bytes     int64 // of its body
	Owed      bool  // a delivery of it is open or a dead letter, or it is an ask that has not ended
}

// Erased is what was erased of messages.
type Erased struct {
	Messages int
	Bytes    int64 // of their bodies
}

// RetentionStore finds and erases messages that are not kept for ever. Those of buried conversations are
// erased by ConversationStore.Purge.
type RetentionStore interface {
	// Oldest returns what is worth knowing of messages with a seq greater than after, in order, at most
	// limit.
	Oldest(after int64, limit int) ([]OldMessage, error)
	// Erase erases the messages with a seq greater than after and at most upTo, but for those that are
	// owed: with their deliveries, their references to artifacts, what the
	// search index has of them, the waits for their answers and the outputs of the runs that they woke or that posted
	// them. Their conversations stay; the numbers these keep are those of what is left. Tasks and approvals stay
	// as they are, but do not name them any more.
	Erase(after, upTo int64) (Erased, error)
	// Weigh counts the bodies of further messages, whose seqs are at most limit numbers. It returns the
	// bytes of all that were counted and are still there, and whether there are more to count.
	Weigh(limit int64) (bytes int64, more bool, err error)
}

// CountStore reads the counters, and compares them with the rows that they count.
type CountStore interface {
	Totals
	CountChecks
}

// Totals adds counters up, for metrics.
type Totals interface {
	// Totals adds up counters of agents, conversations, inboxes and dead letters. It never reads messages.
	Totals() (parley.Totals, error)
	// OpenWork counts open tasks and pending approvals.
	OpenWork() (OpenWork, error)
}

// CountChecks compares counters with rows, for checks of the store. Lists are empty if nothing is wrong.
type CountChecks interface {
	// Conversations returns a sentence for each conversation whose number of messages or last seq is
	// not that of its messages, at most limit.
	Conversations(limit int) ([]string, error)
	// Artifacts returns a sentence for each body whose number of references is not that of the messages
	// that refer to it, at most limit.
	Artifacts(limit int) ([]string, error)
	// Inboxes returns a sentence for each participant whose inbox is not what is open for it, at most
	// limit.
	Inboxes(limit int) ([]string, error)
	// Deliveries looks at the rows of deliveries after a message's seq, of at most limit messages, by seq. It returns a
	// sentence for each whose checksum does not hold or whose state does not fit its times, and the last seq looked at: 0
	// if there was none.
	Deliveries(after int64, limit int) (found []string, last int64, err error)
	// Keys returns a sentence for each idempotency key that names a message which was sent by another, or without it,
	// at most limit.
	Keys(limit int) ([]string, error)
	// Weight returns a sentence if the bytes RetentionStore.Weigh has counted are not those of the messages.
	Weight(limit int) ([]string, error)
}

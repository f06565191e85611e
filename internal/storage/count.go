package storage

import (
	"github.com/parley-hub/parley"
)

// OpenWork counts tasks and approvals that have not ended.
type OpenWork struct {
	QueuedTasks      int64
	ActiveTasks      int64
	PendingApprovals int64
}

// CountStore reads the counters, and compares them with the rows that they count.
type CountStore interface {
	Totals
	CountChecks
}

// Totals reads sums over all rows, for metrics.
type Totals interface {
	// Totals counts agents, conversations, messages, open deliveries and dead letters. It does not read all messages: it adds the
	// counters of the conversations.
	Totals() (parley.Totals, error)
	// OpenWork counts open tasks and pending approvals.
	OpenWork() (OpenWork, error)
}

// CountChecks compares counters with rows, for checks of the store. Its methods return an empty list if nothing is wrong.
type CountChecks interface {
	// Conversations returns a sentence for each conversation whose count of messages or last seq does not match its messages, at
	// most limit.
	Conversations(limit int) ([]string, error)
	// Artifacts returns a sentence for each body whose count of references does not match the messages that refer to it, at most
	// limit.
	Artifacts(limit int) ([]string, error)
	// Inboxes returns a sentence for each participant whose inbox counters do not match its open deliveries, at most limit.
	Inboxes(limit int) ([]string, error)
	// Deliveries checks the deliveries of the next messages with a seq greater than after, of at most limit messages. It returns
	// a sentence for each delivery whose checksum is wrong or whose state does not match its times, and the last seq that it
	// checked: 0 if there were no more deliveries.
	Deliveries(after int64, limit int) (found []string, last int64, err error)
	// Keys returns a sentence for each idempotency key that names a message of another sender or a message without this key, at
	// most limit.
	Keys(limit int) ([]string, error)
	// MessageBytes returns a sentence if the number of bytes that RetentionStore.CountBytes keeps does not match the messages.
	MessageBytes(limit int) ([]string, error)
}

package storage

import (
	"github.com/parley-hub/parley"
)

// OpenWork is how much waits for somebody.
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
	MessageBytes(limit int) ([]string, error)
}

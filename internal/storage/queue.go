package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// QueueFilter selects pending deliveries.
type QueueFilter struct {
	Recipient string
	Wakes     bool           // true: only waking deliveries. false: only quiet ones
	Paused    bool           // true: only deliveries that pause before another attempt. false: only deliveries to take now
	Urgent    bool           // true: asks first, then by priority, then by seq. false: by seq. Only for waking deliveries
	Purpose   parley.Purpose // only deliveries with this purpose
	Plain     bool           // only deliveries without a purpose
	In        string         // only deliveries in this conversation. Ready returns ErrNotFound if there is none
	NotIn     []string       // only deliveries outside of these conversations, by their ids
	From      string         // only deliveries of messages from this sender. Ready returns ErrNotFound if there is none
	After     int64          // only deliveries of messages with a larger seq
	Limit     int
}

// InboxPage selects a part of an inbox.
type InboxPage struct {
	Recipient string
	Wanted    bool  // only waking deliveries that the recipient must act on: see Delivery.NeedsAction
	Before    int64 // only deliveries of messages with a smaller seq; 0: from the newest
	Limit     int
}

// SenderCount is the number of pending deliveries from one sender in an inbox, and the seq of the oldest of them.
type SenderCount struct {
	Sender string
	Count  int
	Oldest int64
}

// QueueStore finds open deliveries and counts them. In an update, a returned delivery is locked against other updates until the
// end of the update. Some methods leave out a delivery that another update has locked; the others wait for it. Lists are empty
// when nothing is found. Methods that take a sender or recipient return ErrNotFound if there is no such participant, unless their
// comments say otherwise.
type QueueStore interface {
	ReadyDeliveries
	LeasedDeliveries
	InboxCounts
	RelatedDeliveries
	EndingDeliveries
	QueueChecks
}

// ReadyDeliveries finds deliveries that an agent can take. The package turns gives them to runs; inbox gives them to agents that
// poll.
type ReadyDeliveries interface {
	// Now returns the current moment on the store's lease clock.
	Now() (parley.Tick, error)
	// Ready returns deliveries that are not leased.
	Ready(QueueFilter) ([]parley.Delivery, error)
	// Senders counts the deliveries without a purpose that are not leased, by sender, in no order. It reads only Recipient, Wakes
	// and Paused of the filter.
	Senders(QueueFilter) ([]SenderCount, error)
	// AgentsToWake returns the ids of agents that have waking deliveries which are ready, at most limit. It leaves out people and
	// removed agents. It does not read agents without such deliveries.
	AgentsToWake(limit int) ([]string, error)
}

// LeasedDeliveries finds deliveries that are leased or paused. The package turns ends their leases; inbox shows them.
type LeasedDeliveries interface {
	// LeasedOrPaused returns the open deliveries of a recipient that are leased or that pause before another attempt, of messages
	// with a seq greater than after, in the order of seq, at most limit.
	LeasedOrPaused(recipient string, after int64, limit int) ([]parley.Delivery, error)
	// Leased returns the deliveries of a lease, in the order of seq. It returns ErrNotFound if the id cannot be the id of a
	// lease.
	Leased(lease string) ([]parley.Delivery, error)
	// Lapsed returns deliveries whose lease or pause has ended at or before now, at most limit.
	Lapsed(now parley.Tick, limit int) ([]parley.Delivery, error)
	// LeasedByNode returns the deliveries that the hub with this name has leased, in the order of seq. A hub calls it before it
	// gives its first lease, so these leases are from an earlier process of the hub.
	LeasedByNode(node string) ([]parley.Delivery, error)
	// LeaseHolders returns the ids of the participants that have taken a delivery and still hold its lease. A delivery that waits for
	// a client session does not count.
	LeaseHolders() (map[string]bool, error)
}

// InboxCounts counts and lists what is in inboxes, for feed, presence, reports and work.
type InboxCounts interface {
	// Newest returns the deliveries in an inbox, the newest message first: the open deliveries, and the deliveries that the
	// recipient has seen and must still act on.
	Newest(InboxPage) ([]parley.Delivery, error)
	// Inbox counts the open deliveries of a recipient. All counts are 0 if it has none.
	Inbox(recipient string) (parley.Inbox, error)
	// Inboxes counts the open deliveries of each recipient that has ever had a delivery, by its id.
	Inboxes() (map[string]parley.Inbox, error)
	// CountAsks counts the open asks to a recipient, whether they are ready, paused or leased.
	CountAsks(recipient string) (int, error)
}

// RelatedDeliveries finds deliveries by their task or kind. The package work uses OfTask; messages replaces old heartbeats.
type RelatedDeliveries interface {
	// OfTask returns the waking open deliveries to a recipient whose messages belong to a task, in the order of seq, at most
	// limit.
	OfTask(recipient, task string, limit int) ([]parley.Delivery, error)
	// Heartbeat returns the delivery of the newest heartbeat from a sender to a recipient. It returns ErrNotFound if there is
	// none.
	Heartbeat(sender, recipient string) (parley.Delivery, error)
}

// EndingDeliveries finds deliveries that turns must end, and dead letters for inbox and feed.
type EndingDeliveries interface {
	// Due returns deliveries whose Next is now or earlier, at most limit.
	Due(now time.Time, limit int) ([]parley.Delivery, error)
	// Dead returns dead letters of messages with a seq greater than after, in the order of seq, of at most limit messages. It
	// returns all dead letters of each of these messages.
	Dead(after int64, limit int) ([]parley.Delivery, error)
	// Orphaned returns the ids of removed agents that have open deliveries.
	Orphaned() ([]string, error)
}

// QueueChecks checks the rows of open deliveries, for the package upkeep.
type QueueChecks interface {
	// DamagedWork checks the deliveries of all messages whose outcome a participant waits for: the requests of open asks and open
	// tasks, and the callbacks of subtasks of open tasks. It returns the damage of each damaged delivery that has not ended.
	DamagedWork() ([]parley.Damage, error)
	// DamagedQuiet checks up to limit quiet deliveries after a mark that are not leased. It returns the damage of each damaged
	// delivery, and the mark of the last checked delivery, or the zero mark if there was none.
	DamagedQuiet(after QuietMark, limit int) (found []parley.Damage, last QuietMark, err error)
}

// QuietMark is how far DamagedQuiet has come: the number of a recipient, and the seq of a message for it.
type QuietMark struct{ Agent, Place int64 }

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// Queue selects pending deliveries.
type QueueFilter struct {
	Recipient string
	Wakes     bool           // those that wake; else those that do not
	Paused    bool           // those that pause before another attempt; else those that can be taken
	Urgent    bool           // by priority, asks first, then by seq; else by seq. Only for those that wake
	Purpose   parley.Purpose // only those with this purpose
	Plain     bool           // only those without any
	In        string         // only those in this conversation. ErrNotFound if there is none
	NotIn     []string       // only those in none of these, by their ids
	From      string         // only those of messages from this sender. ErrNotFound if there is none
	After     int64          // only those of messages with a larger seq
	Limit     int
}

// InboxPage selects a part of an inbox.
type InboxPage struct {
	Recipient string
	Wanted    bool  // only those that wake and that the recipient must act on: see Delivery.Wanted
	Before    int64 // only those of messages with a smaller seq; 0: from the newest
	Limit     int
}

// SenderCount is how many deliveries of one sender wait in an inbox, and the seq of its oldest message there.
type SenderCount struct {
	Sender string
	Count  int
	Oldest int64
}

// QueueStore finds open deliveries and counts them. A delivery that it returns in an update is locked for others until the end of
// the update; a delivery that another update has locked is left out. Lists are empty when nothing is found. Unless they say otherwise,
// methods that take a sender or recipient return ErrNotFound if there is no such participant.
type QueueStore interface {
	ReadyDeliveries
	LeasedDeliveries
	InboxCounts
	RelatedDeliveries
	EndingDeliveries
	QueueChecks
}

// ReadyDeliveries finds deliveries that an agent can take. turns hands them to runs; inbox to agents that poll.
type ReadyDeliveries interface {
	// Now returns the current moment on the store's lease clock.
	Now() (parley.Tick, error)
	// Ready returns deliveries that are not leased.
	Ready(QueueFilter) ([]parley.Delivery, error)
	// Senders counts the deliveries without a purpose that are not leased, by sender, in no order. Of the queue it reads
	// Recipient, Wakes and Paused.
	Senders(QueueFilter) ([]SenderCount, error)
	// Waiting returns the ids of agents that have ready deliveries which wake, at most limit, without people and removed
	// agents. Agents without such deliveries cost nothing.
	AgentsToWake(limit int) ([]string, error)
}

// LeasedDeliveries finds deliveries that are leased or paused. turns ends their leases; inbox shows them.
type LeasedDeliveries interface {
	// Held returns the open deliveries of a recipient that are not ready, by seq after one, at most limit: those
	// that are leased, and those that pause before another attempt.
	LeasedOrPaused(recipient string, after int64, limit int) ([]parley.Delivery, error)
	// Leased returns the deliveries of a lease, by seq.
	Leased(lease string) ([]parley.Delivery, error)
	// Lapsed returns deliveries whose lease or pause has ended by a moment, at most limit.
	Lapsed(now parley.Tick, limit int) ([]parley.Delivery, error)
	// Left returns the deliveries that the hub with this name has leased, by seq. A hub calls it before it gives its first lease, so
	// the leases are those of its former process.
	LeasedByNode(node string) ([]parley.Delivery, error)
}

// InboxCounts counts and lists what is in inboxes, for feed, presence, reports and work.
type InboxCounts interface {
	// Newest returns the deliveries in an inbox, the newest message first: the open ones, and those that the recipient has
	// seen and must still act on.
	Newest(InboxPage) ([]parley.Delivery, error)
	// Inbox counts the open deliveries of a recipient. All counts are 0 if it has none.
	Inbox(recipient string) (parley.Inbox, error)
	// Inboxes counts the open deliveries of each recipient that has ever had a delivery, by its id.
	Inboxes() (map[string]parley.Inbox, error)
	// Asked counts the open asks to a recipient: those that are ready, paused or leased.
	CountAsks(recipient string) (int, error)
}

// RelatedDeliveries finds deliveries by their task or kind. work uses OfTask; messages coalesces heartbeats.
type RelatedDeliveries interface {
	// OfTask returns the open deliveries to a recipient that wake and whose messages belong to a task, by seq, at most
	// limit.
	OfTask(recipient, task string, limit int) ([]parley.Delivery, error)
	// Heartbeat returns the delivery of the newest heartbeat from a sender to a recipient.
	// ErrNotFound if there is none.
	Heartbeat(sender, recipient string) (parley.Delivery, error)
}

// EndingDeliveries finds deliveries that turns must end, and dead letters for inbox and feed.
type EndingDeliveries interface {
	// Due returns deliveries whose Next has come by a time, at most limit.
	Due(now time.Time, limit int) ([]parley.Delivery, error)
	// Dead returns dead letters after a message's seq, by seq: at most limit, and then the remaining ones of the last message.
	Dead(after int64, limit int) ([]parley.Delivery, error)
	// Orphaned returns the ids of removed agents that have open deliveries.
	Orphaned() ([]string, error)
}

// QueueChecks verifies the rows of open deliveries, for upkeep.
type QueueChecks interface {
	// DamagedWork verifies the deliveries of all messages whose outcome somebody needs: the requests of open asks and open tasks, and
	// the callbacks of tasks under open ones. It returns what is wrong with the deliveries that have not ended.
	DamagedWork() ([]parley.Damage, error)
	// DamagedQuiet verifies up to limit deliveries after a mark that wake no agent and that are not leased. It returns what is wrong
	// with them, and the mark of the last one, or the zero mark if there was none.
	DamagedQuiet(after QuietMark, limit int) (found []parley.Damage, last QuietMark, err error)
}

// QuietMark is how far DamagedQuiet has come: the number of a recipient, and the seq of a message for it.
type QuietMark struct{ Agent, Place int64 }

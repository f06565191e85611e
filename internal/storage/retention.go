package storage

import "time"

// OldMessage is a message as retention reads it.
type OldMessage struct {
	Seq       int64
	CreatedAt time.Time
	Bytes     int64 // the size of the message's body
	Owed      bool  // the message has an open delivery or a dead letter, or is an ask that has not ended
}

// Erased counts erased messages.
type Erased struct {
	Messages int
	Bytes    int64 // the sum of the sizes of their bodies
}

// RetentionStore finds and erases old messages. ConversationStore.Purge erases the messages of deleted conversations.
type RetentionStore interface {
	// Oldest returns messages with a seq greater than after, in order, at most limit.
	Oldest(after int64, limit int) ([]OldMessage, error)
	// Erase erases the messages with a seq greater than after and not greater than upTo, except messages that are owed. With a
	// message it erases its deliveries, its references to artifacts, its words in the search index, the waits for its answer, and
	// the outputs of the runs that it woke or that posted it. Erase keeps the conversations and corrects their counters. It keeps
	// tasks and approvals, which no longer name the erased messages.
	Erase(after, upTo int64) (Erased, error)
	// CountBytes adds the sizes of the bodies of more messages to a stored sum: of the messages with the next limit seqs. It
	// returns the sum over all counted messages that are still stored, and whether there are more messages to count.
	CountBytes(limit int64) (bytes int64, more bool, err error)
}

package storage

import "time"

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
	CountBytes(limit int64) (bytes int64, more bool, err error)
}

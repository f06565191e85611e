package storage

import (
	"github.com/parley-hub/parley"
)

// DeliveryStore keeps deliveries. No method finds deliveries of buried conversations.
type DeliveryStore interface {
	DeliveryTable
	DeliveryLists
	PairNumbers
}

// DeliveryTable holds the rows of deliveries. Only the package deliveries writes them.
type DeliveryTable interface {
	// Insert adds deliveries of one message, which must be stored, and returns them.
	// ErrTaken if one exists already, ErrNotFound if the message does not exist.
	Insert(m parley.Message, to []parley.Reach) ([]parley.Delivery, error)
	// Get returns one delivery and keeps others from changing it until the end of the update.
	// ErrNotFound if there is none.
	Get(message, recipient string) (parley.Delivery, error)
	// GetAll is Get for several messages: it returns those that exist, by seq.
	GetAll(recipient string, messages []string) ([]parley.Delivery, error)
	// Put replaces a delivery. If the stored delivery differs from before, the whole update fails with ErrNotFound, at once
	// or later.
	Put(before, after parley.Delivery) error
}

// DeliveryLists reads the deliveries of a message or a conversation.
type DeliveryLists interface {
	// Of returns the deliveries of a message in the order of their recipients' age, or an empty list.
	OfMessage(message string) ([]parley.Delivery, error)
	// Open reports whether a conversation has an open delivery. ErrNotFound if there is no such conversation.
	HasOpen(conversation string) (bool, error)
	// Between returns the deliveries to a recipient of messages in a conversation with a seq greater
	// than after and at most upTo, in order, at most limit.
	Between(conversation, recipient string, after, upTo int64, limit int) ([]parley.Delivery, error)
}

// PairNumbers holds the number of the last message from each sender to each recipient.
type PairNumbers interface {
	// Pair returns the last pair_seq from a sender to a recipient, or 0.
	PairSeq(sender, recipient string) (int64, error)
	// Count sets the pair_seq from a sender to a recipient to n, for a message that reaches the recipient without a delivery.
	SetPairSeq(sender, recipient string, n int64) error
}

package storage

import (
	"github.com/parley-hub/parley"
)

// DeliveryStore keeps deliveries. No method finds deliveries in deleted conversations.
type DeliveryStore interface {
	DeliveryTable
	DeliveryLists
	PairNumbers
}

// DeliveryTable holds the rows of deliveries. Only the package deliveries writes them.
type DeliveryTable interface {
	// Insert adds deliveries of one stored message and returns them. It returns ErrTaken if one of them exists already, and
	// ErrNotFound if the message or a recipient does not exist.
	Insert(m parley.Message, to []parley.NewDelivery) ([]parley.Delivery, error)
	// Get returns one delivery and locks it against other updates until the end of this update. It returns ErrNotFound if there
	// is none.
	Get(message, recipient string) (parley.Delivery, error)
	// GetAll does what Get does for several messages. It returns the deliveries that exist, in the order of seq. It returns
	// ErrNotFound if there is no such recipient.
	GetAll(recipient string, messages []string) ([]parley.Delivery, error)
	// Put replaces a delivery. If the stored delivery differs from before in its state, attempt or lease, the whole update fails
	// with ErrNotFound, at once or later.
	Put(before, after parley.Delivery) error
}

// DeliveryLists reads the deliveries of a message or a conversation.
type DeliveryLists interface {
	// OfMessage returns the deliveries of a message, or an empty list. Recipients that were added earlier come first. It returns
	// ErrNotFound if the id cannot be the id of a message.
	OfMessage(message string) ([]parley.Delivery, error)
	// HasOpen reports whether a conversation has an open delivery. It returns ErrNotFound if there is no such conversation.
	HasOpen(conversation string) (bool, error)
	// Between returns the deliveries to a recipient of messages in a conversation with a seq greater than after and not greater
	// than upTo, in order, at most limit. It returns ErrNotFound if there is no such conversation or recipient.
	Between(conversation, recipient string, after, upTo int64, limit int) ([]parley.Delivery, error)
}

// PairNumbers holds the number of the last message from each sender to each recipient.
type PairNumbers interface {
	// PairSeq returns the last pair_seq from a sender to a recipient, or 0. It returns ErrNotFound if there is no such
	// participant.
	PairSeq(sender, recipient string) (int64, error)
	// SetPairSeq sets the pair_seq from a sender to a recipient to n, for a message that reaches the recipient without a
	// delivery. It returns ErrNotFound if there is no such participant.
	SetPairSeq(sender, recipient string, n int64) error
}

package storage

import "time"

// Exchange counts how often in a row two agents have woken each other in turn by automatic messages.
type Exchange struct {
	A, B         string // A is smaller than B
	Last         string // A or B: the agent that was the last to wake the other
	Conversation string // where the last exchange was; empty: it is deleted
	Count        int
	At           time.Time // when the last exchange was
	Open         bool      // the breaker is open: further exchanges fail
}

// LoopStore counts exchanges between agents. Deleting the conversation of the last exchange keeps the count and empties the id of
// the conversation. Every method returns ErrNotFound if an agent or conversation that the caller names does not exist.
type LoopStore interface {
	// Get returns the exchanges of two agents. The order of a and b does not matter. It returns ErrNotFound if there were none.
	Get(a, b string) (Exchange, error)
	// Put adds the exchanges of two agents, or replaces them.
	Put(Exchange) error
	// Forget erases the exchanges of two agents, and reports whether there were any.
	Forget(a, b string) (bool, error)
	// ForgetIn erases all exchanges whose last one was in a conversation. It returns the erased exchanges that had an open
	// breaker.
	ForgetIn(conversation string) ([]Exchange, error)
}

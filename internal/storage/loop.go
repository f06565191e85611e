package storage

import "time"

// Exchange counts how often in a row two agents have woken each other in turn by automatic messages.
type Exchange struct {
	A, B         string // A < B
	Last         string // which of them was the last to wake the other
	Conversation string // of the last one
	Count        int
	At           time.Time // of the last one
	Open         bool      // the breaker is open: further ones are held
}

// LoopStore counts exchanges between agents. They outlive the conversation of the last exchange, whose id is empty then.
// ErrNotFound if an agent or the conversation that is named does not exist.
type LoopStore interface {
	// Get returns the exchanges of two agents, in any order. ErrNotFound if there were none.
	Get(a, b string) (Exchange, error)
	// Put replaces them, or adds them.
	Put(Exchange) error
	// Forget erases those of two agents, and says whether there were any.
	Forget(a, b string) (bool, error)
	// ForgetIn erases the exchanges whose last one was in a conversation, and returns those of them with an open breaker.
	ForgetIn(conversation string) ([]Exchange, error)
}

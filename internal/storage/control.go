package storage

import (
	"time"
)

// Exchange counts how often in a row two agents have woken each other in turn by automatic messages.
type Exchange struct {
	A, B         string // A < B
	Last         string // which of them was the last to wake the other
	Conversation string // of the last one
	Count        int
	At           time.Time // of the last one
	Open         bool      // the breaker is open: further ones are held
}

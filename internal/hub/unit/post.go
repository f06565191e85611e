package unit

import (
	"time"
)

// KeyMemory is how long a sender's idempotency key is remembered.
const KeyMemory = 24 * time.Hour

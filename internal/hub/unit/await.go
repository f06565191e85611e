package unit

import (
	"time"
)

// awaitPoll is for what other processes have written.
const awaitPoll = 2 * time.Second

package unit

import (
	"time"
)

// Retention is how much is kept.
type Retention struct {
	Messages  Keep
	Artifacts Keep
	Events    time.Duration // default: 7 days; negative: for ever
	Outputs   time.Duration // of runs; 0: for ever
}

// Keep is how long and how much of something is kept. What is 0 does not limit.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

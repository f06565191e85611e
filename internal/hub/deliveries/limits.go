package deliveries

import (
	"time"
)

// DefaultLease is how long a lease lasts if the caller does not say.
const DefaultLease = time.Minute

// LongestLease is the longest lease.
const LongestLease = 12 * time.Hour

// DefaultTake is how many deliveries a call takes if the caller does not say.
const DefaultTake = 20

// MostTaken is how many deliveries a call takes at most.
const MostTaken = 500

// DueBatch is how many due deliveries one update handles.
const DueBatch = 100

// ErrorsKept is how long an error message stays queued for an agent that never polls. Error messages do not count toward the
// size of an inbox, so nothing else limits them.
const ErrorsKept = 7 * 24 * time.Hour

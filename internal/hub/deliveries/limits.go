package deliveries

import (
	"time"
)

const DefaultLease = time.Minute

const LongestLease = 12 * time.Hour

const DefaultTake = 20

const MostTaken = 500

const DueBatch = 100

// ErrorsKept is how long an error waits for somebody who never fetches: errors take no room in an inbox,
// so that nothing else would bound them.
const ErrorsKept = 7 * 24 * time.Hour

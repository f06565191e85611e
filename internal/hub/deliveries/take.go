package deliveries

import (
	"time"
)

const DefaultLease = time.Minute

const LongestLease = 12 * time.Hour

const DefaultTake = 20

const MostTaken = 500

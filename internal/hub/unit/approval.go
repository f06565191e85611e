package unit

import (
	"time"
)

// Approvals says how long requests for approvals wait.
type Approvals struct {
	Expire time.Duration // 0: for ever
	Remind time.Duration // the first reminder; each further one after twice the time, at most a day; negative: none
}

package unit

import (
	"time"
)

func After(now time.Time, d time.Duration) *time.Time {
	t := now.Add(d).Truncate(time.Millisecond)
	return &t
}

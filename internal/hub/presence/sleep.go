package presence

import (
	"time"
)

// LongestSleep keeps a mistake in a date from putting an agent to sleep for ever.
const LongestSleep = 366 * 24 * time.Hour

package unit

import (
	"time"

	"github.com/parley-hub/parley"
)

// Asks bound what it is to ask somebody. The zero value of a field means its default.
type Asks struct {
	Wait  time.Duration // for the answer; default: 120 s
	Slots int           // open asks to one agent; default: 16
	Depth int           // asks that are nested in each other; default: 3
}

func (a Asks) WithDefaults() Asks {
	SetDefault(&a.Wait, parley.AskWait)
	SetDefault(&a.Slots, 16)
	SetDefault(&a.Depth, 3)
	return a
}

// LongestWait keeps a mistake from holding a call for ever.
const LongestWait = 24 * time.Hour

// MostAsks is more than there may be open to one agent.
const MostAsks = 10_000

package unit

import (
	"time"
)

// Loops is when agents that wake each other are held. The zero value of a field means its default.
type Loops struct {
	Exchanges int           // in a row, within a pair or along a chain, after which further ones are held; default: 8
	Quiet     time.Duration // after which those of a pair are counted anew; default: 10 minutes
	Hops      int           // of a message that may still wake an agent; default: 32
}

func (l Loops) WithDefaults() Loops {
	SetDefault(&l.Exchanges, 8)
	SetDefault(&l.Quiet, 10*time.Minute)
	SetDefault(&l.Hops, 32)
	return l
}

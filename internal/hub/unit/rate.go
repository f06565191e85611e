package unit

import (
	"github.com/parley-hub/parley"
)

// Rate limits how often one agent may change anything, by a message or otherwise. The zero value means
// the default; a burst with a PerSecond of 0 or less means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Key is the name under which a caller's calls are counted. A name that is too long is nobody's: its beginning will do.
func (c Caller) Key() string {
	return parley.Fold(c.Agent[:min(len(c.Agent), parley.MaxNameBytes)])
}

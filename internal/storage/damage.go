package storage

import (
	"github.com/parley-hub/parley"
)

// DamageSource is a store that notices damage while it reads.
type DamageSource interface {
	// Damaged receives a value when damage was found that Damages has not returned yet.
	Damaged() <-chan struct{}
	// Damages returns what was found since the last call, each thing once while the process runs.
	Damages() []parley.Damage
}

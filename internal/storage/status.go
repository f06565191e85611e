package storage

import (
	"context"

	"github.com/parley-hub/parley"
)

// Prober is implemented by stores that can test whether they can be written.
type Prober interface {
	// Probe commits a change that nobody reads. It returns the error that an update would return.
	Probe(ctx context.Context) error
}

// OpenWork is how much waits for somebody.
type OpenWork struct {
	QueuedTasks      int64
	ActiveTasks      int64
	PendingApprovals int64
}

// Keeper is what a store may be able to do for the safety of what it holds.
type Keeper interface {
	// Backup copies everything into a new directory while others go on, and verifies the copy. If anything
	// fails, nothing is left. E003 Conflict if the directory is there already, E002 StorageFull if the disk
	// is full.
	Backup(ctx context.Context, dir string) (parley.Backup, error)
	// CheckDeep verifies everything that is stored. progress, which may be nil, is told now and then how far
	// it is. An error means that the check could not be made; what it found is in the report.
	CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (parley.CheckReport, error)
}

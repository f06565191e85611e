package storage

import (
	"context"

	"github.com/parley-hub/parley"
)

// Store keeps everything the hub knows. It decides nothing.
type Store interface {
	// Update runs fn in a transaction and returns once what it wrote is on disk. If fn returns an
	// error or panics, nothing it wrote remains and Update returns that error (a panic as E006). If the
	// disk fails in the middle of a commit and stays that way, the error says that it is not known
	// whether the update was stored.
	//
	// Updates come one after the other, those of other processes on the same database included: fn
	// sees all of those before it and none of those after it.
	//
	// fn may run twice, shares its transaction with other updates, must only use tx, and must not
	// call the store. Cancelling ctx has an effect until fn starts; then Update waits for the
	// outcome, so an error of the context means that nothing was written.
	Update(ctx context.Context, fn func(Tx) error) error

	// View runs fn on a snapshot: it sees every update that returned before, and never half of one.
	// What it writes fails.
	View(ctx context.Context, fn func(Tx) error) error

	// Blobs are the bodies of artifacts, which are in no transaction.
	Blobs() Blobs
}

// Disk is what a store may know of the disk it is on.
type Disk interface {
	// Space returns the bytes that are free for it, and those there are in all. errors.ErrUnsupported if
	// they cannot be known.
	Space() (free, total int64, err error)
}

// Prober is implemented by stores that can test whether they can be written.
type Prober interface {
	// Probe commits a change that nobody reads. It returns the error that an update would return.
	Probe(ctx context.Context) error
}

// Keeper is what a store may be able to do for the safety of what it holds.
type Maintainer interface {
	// Backup copies everything into a new directory while others go on, and verifies the copy. If anything
	// fails, nothing is left. E003 Conflict if the directory is there already, E002 StorageFull if the disk
	// is full.
	Backup(ctx context.Context, dir string) (parley.Backup, error)
	// CheckDeep verifies everything that is stored. progress, which may be nil, is told now and then how far
	// it is. An error means that the check could not be made; what it found is in the report.
	CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (parley.CheckReport, error)
}

// DamageSource is a store that notices damage while it reads.
type DamageSource interface {
	// Damaged receives a value when damage was found that Damages has not returned yet.
	Damaged() <-chan struct{}
	// Damages returns what was found since the last call, each thing once while the process runs.
	Damages() []parley.Damage
}

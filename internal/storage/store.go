package storage

import (
	"context"

	"github.com/parley-hub/parley"
)

// Store keeps the rows of the hub. It makes no decisions.
type Store interface {
	// Update runs fn in a transaction and returns when the changes of fn are on disk. If fn returns an error or panics, Update
	// discards the changes and returns the error (a panic as E006). If the disk fails in the middle of a commit and does not
	// recover, the error says that the outcome is unknown.
	//
	// Updates run one after the other, including updates of other processes on the same database. fn sees the changes of all
	// updates before it, and of none after it.
	//
	// fn may run twice, and it shares its transaction with other updates. fn may use only its Tx, and must not call the store.
	// Cancelling ctx has an effect only until fn starts. After that Update waits for the outcome, so an error of ctx means that
	// nothing was written.
	Update(ctx context.Context, fn func(Tx) error) error

	// View runs fn on a snapshot. fn sees the changes of every update that has returned before, and never half of an update.
	// Every write of fn fails.
	View(ctx context.Context, fn func(Tx) error) error

	// Blobs returns the store of the bodies of artifacts. They are not part of transactions.
	Blobs() Blobs
}

// Disk is implemented by stores that know the disk on which they are.
type Disk interface {
	// Space returns how many bytes are free for the store, and how many bytes the disk has. It returns errors.ErrUnsupported if
	// the system does not tell.
	Space() (free, total int64, err error)
}

// Prober is implemented by stores that can test whether they can be written.
type Prober interface {
	// Probe commits a change that nobody reads. It returns the error that an update would return.
	Probe(ctx context.Context) error
}

// Maintainer is implemented by stores that can make backups and check all stored data.
type Maintainer interface {
	// Backup copies everything into a new directory and verifies the copy. Reads and updates continue meanwhile. If Backup fails,
	// it leaves nothing behind. It returns E003 Conflict if the directory exists already, and E002 StorageFull if the disk is
	// full.
	Backup(ctx context.Context, dir string) (parley.Backup, error)
	// CheckDeep verifies everything that is stored. From time to time it calls progress, which may be nil, with the report so
	// far. The report lists the problems. An error means that the check did not run to its end.
	CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (parley.CheckReport, error)
}

// DamageSource is implemented by stores that notice damage while they read.
type DamageSource interface {
	// Damaged returns a channel that receives a value when the store has found damage that Damages has not returned yet.
	Damaged() <-chan struct{}
	// Damages returns the damage that the store has found since the last call. It returns the same damage only once while the
	// process runs.
	Damages() []parley.Damage
}

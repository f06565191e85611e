package storage

import (
	"context"
	"io"
	"time"

	"github.com/parley-hub/parley"
)

// Blobs keeps the bodies of artifacts, each once and under its SHA-256 in lower-case hexadecimal.
// Which of them anybody needs is in the store's rows: a row without its body never exists, unless it
// says that the body was removed; a body without such a row is waste that a later sweep removes.
type Blobs interface {
	// Put stores what r holds, in bounded memory, and calls keep with its digest and size once all of it
	// is on disk; until keep returns, nobody removes that body. What was stored before under the same
	// digest is replaced by the same bytes, which mends it if it was damaged.
	//
	// E003 TooLarge if r holds more than limit bytes, E002 StorageFull if the disk is full; else the error
	// of r, of ctx or of keep as it came. After an error before keep nothing remains. A body whose keep
	// failed stays, because its row may have been stored all the same: see Remove.
	Put(ctx context.Context, r io.Reader, limit int64, keep func(sha256 string, size int64) error) error
	// Open returns a body and its size. ErrNotFound if there is none. A body that is damaged is found
	// out while it is read: then ErrDamaged comes where io.EOF would, or sooner.
	Open(ctx context.Context, sha256 string) (io.ReadCloser, int64, error)
	// Remove removes a body, if it is there, once unneeded, asked while nobody can put the same body, says
	// that no row needs it. It may not be asked, and then nothing is removed, while a backup is being
	// made. An error of unneeded comes back as it came.
	Remove(ctx context.Context, sha256 string, unneeded func() (bool, error)) error
	// List returns the digests of bodies greater than after, in order, at most limit.
	List(ctx context.Context, after string, limit int) ([]string, error)
}

// StoredArtifact is what is known of a stored body.
type StoredArtifact struct {
	SHA256    string
	Size      int64
	StoredAt  time.Time  // when it was last handed in
	Refs      int64      // messages that refer to it
	RemovedAt *time.Time // when the body was removed, though messages refer to it
}

// ArtifactStore keeps which bodies are stored, the agents that stored them, and the messages that refer to them.
// MessageStore.Insert adds references. Redacting or erasing a message drops them.
type ArtifactStore interface {
	ArtifactTable
	ArtifactRemoval
}

// ArtifactTable holds the rows of bodies. The package artifacts uses it.
type ArtifactTable interface {
	// Keep notes that an agent has stored a body at a time. A removed body counts as stored again. ErrNotFound if there is no such
	// agent.
	Keep(a StoredArtifact, agent string) error
	// Get returns the row of a body. ErrNotFound if there is none.
	Get(sha256 string) (StoredArtifact, error)
	// Known reports whether an agent has stored a body itself, or a message that refers to the body is in one of its conversations or
	// in a public channel. False if there is no such body or agent.
	Accessible(sha256, agent string) (bool, error)
	// Of returns the digests that a message refers to, in order, or an empty list.
	OfMessage(message string) ([]string, error)
	// StoredBy returns the total size in bytes of the bodies that an agent has stored and that still exist. ErrNotFound if
	// there is no such agent.
	StoredBy(agent string) (int64, error)
	// Totals returns sums over all bodies.
	Totals() (parley.ArtifactTotals, error)
}

// ArtifactRemoval finds and removes bodies that no message needs, and old ones. artifacts and archive use it.
type ArtifactRemoval interface {
	// List returns bodies with a digest greater than after, in order, at most limit.
	List(after string, limit int) ([]StoredArtifact, error)
	// Unused returns the digests of bodies that no message refers to and that were last stored before a time, the oldest first, at
	// most limit.
	Unused(since time.Time, limit int) ([]string, error)
	// Forget erases the row of a body that Unused would return, and reports whether it did.
	Forget(sha256 string, since time.Time) (bool, error)
	// Oldest returns bodies that are not removed, those stored first first, at most limit.
	Oldest(limit int) ([]StoredArtifact, error)
	// Expire notes that a body is removed, unless it was stored after a time or is removed already. It reports whether it noted that.
	Expire(sha256 string, storedBy, removed time.Time) (bool, error)
}

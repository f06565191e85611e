package storage

import (
	"context"
	"io"
	"time"

	"github.com/parley-hub/parley"
)

// Blobs keeps the bodies of artifacts, each once and under its SHA-256 in lower-case hexadecimal. The rows of the store say which
// bodies are needed. A row exists only while its body exists, unless the row says that the body was removed. A later sweep
// removes a body that has no row.
type Blobs interface {
	// Put stores the content of r, in bounded memory. When all of it is on disk, Put calls keep with its digest and size. Remove
	// does not remove the body until keep returns. If a body with the same digest is stored already, Put replaces it. That
	// repairs a damaged body.
	//
	// Put returns E003 TooLarge if r has more than limit bytes, and E002 StorageFull if the disk is full. It returns an error of
	// r, ctx or keep unchanged. If Put fails before it calls keep, it leaves nothing behind. If keep fails, the body stays,
	// because the row may be stored all the same: see Remove.
	Put(ctx context.Context, r io.Reader, limit int64, keep func(sha256 string, size int64) error) error
	// Open returns a body and its size. It returns ErrNotFound if there is none. The reader returns ErrDamaged instead of io.EOF,
	// or earlier, if the body is damaged.
	Open(ctx context.Context, sha256 string) (io.ReadCloser, int64, error)
	// Remove calls unneeded, and removes the body if unneeded reports that no row needs it. Meanwhile no Put can store the same
	// body. A missing body is no error. While a backup runs, Remove may do nothing at all. It returns an error of unneeded
	// unchanged.
	Remove(ctx context.Context, sha256 string, unneeded func() (bool, error)) error
	// List returns the digests of stored bodies that are greater than after, in order, at most limit.
	List(ctx context.Context, after string, limit int) ([]string, error)
}

// StoredArtifact is the row of a stored body.
type StoredArtifact struct {
	SHA256    string
	Size      int64
	StoredAt  time.Time  // when a participant last stored the body
	Refs      int64      // messages that refer to it
	RemovedAt *time.Time // when the body was removed, though messages refer to it
}

// ArtifactStore keeps which bodies are stored, the agents that stored them, and the messages that refer to them.
// MessageStore.Insert adds references. Redacting or erasing a message drops its references.
type ArtifactStore interface {
	ArtifactTable
	ArtifactRemoval
}

// ArtifactTable holds the rows of bodies. The package artifacts uses it.
type ArtifactTable interface {
	// Put notes that an agent has stored a body at a time. A removed body then counts as stored again. It returns ErrNotFound if
	// there is no such agent.
	Put(a StoredArtifact, agent string) error
	// Get returns the row of a body. It returns ErrNotFound if there is none.
	Get(sha256 string) (StoredArtifact, error)
	// Accessible reports whether an agent may use a body: the agent has stored the body itself, or a message that refers to the
	// body is in one of its conversations or in a public channel. It returns false if there is no such body or agent.
	Accessible(sha256, agent string) (bool, error)
	// OfMessage returns the digests that a message refers to, in order, or an empty list. It returns ErrNotFound if the id cannot
	// be the id of a message.
	OfMessage(message string) ([]string, error)
	// StoredBy returns the total size in bytes of the bodies that an agent has stored and that still exist. It returns
	// ErrNotFound if there is no such agent.
	StoredBy(agent string) (int64, error)
	// Totals returns sums over all bodies.
	Totals() (parley.ArtifactTotals, error)
}

// ArtifactRemoval finds and removes bodies that no message needs, and old ones. The packages artifacts and archive use it.
type ArtifactRemoval interface {
	// List returns bodies with a digest greater than after, in order, at most limit.
	List(after string, limit int) ([]StoredArtifact, error)
	// Unused returns the digests of bodies that no message refers to and that were last stored before since, the oldest first, at
	// most limit.
	Unused(since time.Time, limit int) ([]string, error)
	// Forget erases the row of a body that Unused would return, and reports whether it did.
	Forget(sha256 string, since time.Time) (bool, error)
	// Oldest returns bodies that are not removed, in the order in which they were last stored, at most limit.
	Oldest(limit int) ([]StoredArtifact, error)
	// Expire notes that a body was removed, unless the body was stored after storedBy or is removed already. It reports whether
	// it noted the removal.
	Expire(sha256 string, storedBy, removed time.Time) (bool, error)
}

package storage

import (
	"github.com/parley-hub/parley"
)

// NamedID is an id with the number of its short name.
type NamedID struct {
	ID     string
	Number int64
}

// IDReader is the participant for whom the store looks up ids. The zero value may see everything.
type IDReader struct {
	ID      string
	Reports []string // the agents whose runs and approvals the reader may see besides its own
}

// IDsLookedAt is how many ids of a noun Like compares with a piece of an id. It compares the end with the newest ids, and the
// beginning with the largest ids that begin so.
const IDsLookedAt = 10_000

// NameStore finds messages, approvals and runs by their short names and by pieces of their ids.
type NameStore interface {
	// Numbered returns the id of the message, approval or run with this number. It does not check who may see it. It returns
	// ErrNotFound if there is none, or if its conversation was deleted.
	Numbered(noun parley.Noun, number int64) (id string, err error)
	// Like returns ids of messages, approvals or runs that begin or end with a piece, in any order, at most limit. It returns
	// messages that the reader may read or that were delivered to the reader, runs of the reader and its reports, approvals of
	// calls by the reader and its reports, and approvals that the reader decides. It compares at most IDsLookedAt beginnings and
	// as many ends. It returns ErrNotFound if there is no such reader or report.
	Like(noun parley.Noun, p parley.IDPiece, reader IDReader, limit int) ([]NamedID, error)
}

package storage

import (
	"github.com/parley-hub/parley"
)

// NamedID is an id with the number of its short name.
type NamedID struct {
	ID     string
	Number int64
}

// IDReader is the participant for whom ids are looked up. The zero value sees everything.
type IDReader struct {
	ID      string
	Reports []string // the agents whose runs and approvals the reader sees besides its own
}

// IDsLookedAt is among how many ids a piece of an id is looked for: the newest of its noun for an end, and the largest of those
// that begin with it for a beginning.
const IDsLookedAt = 10_000

// NameStore finds messages, approvals and runs by their short names and by pieces of their ids.
type NameStore interface {
	// Numbered returns the id of the message, approval or run with a number, whoever may see it. ErrNotFound if there is none,
	// or its conversation was deleted.
	Numbered(noun parley.Noun, number int64) (id string, err error)
	// Like returns ids of messages, approvals or runs that begin or end with a piece, in any order, at most limit. It finds
	// messages that the reader may read or were delivered to it, runs of the reader and its reports, and approvals of their calls
	// and those it decides. It looks at no more than IDsLookedAt beginnings and as many ends.
	Like(noun parley.Noun, p parley.IDPiece, reader IDReader, limit int) ([]NamedID, error)
}

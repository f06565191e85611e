package runs

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new run.
func InsertRow(tx storage.Tx, r parley.Run) error {
	return tx.Runs().Insert(r)
}

// KeepOutput stores the output of a run.
func KeepOutput(tx storage.Tx, id string, output []byte) error {
	return tx.Runs().KeepOutput(id, output)
}

// NotePost stores that a run posted a message.
func NotePost(tx storage.Tx, id string, p storage.RunPost) error {
	return tx.Runs().Posted(id, p)
}

package runs

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// InsertRow stores a new run.
func InsertRow(tx parley.Tx, r parley.Run) error {
	return tx.Runs().Insert(r)
}

// KeepOutput stores what a run has printed.
func KeepOutput(tx parley.Tx, id string, output []byte) error {
	return tx.Runs().KeepOutput(id, output)
}

// NotePost stores that a run has posted a message.
func NotePost(tx parley.Tx, id string, p parley.RunPost) error {
	return tx.Runs().Posted(id, p)
}

package waits

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// InsertRow stores a new wait.
func InsertRow(tx parley.Tx, w parley.Wait) error {
	return tx.Waits().Insert(w)
}

// EraseRow removes a wait.
func EraseRow(tx parley.Tx, id string) error {
	return tx.Waits().Erase(id)
}

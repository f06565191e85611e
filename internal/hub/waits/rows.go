package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new wait.
func InsertRow(tx storage.Tx, w parley.Wait) error {
	return tx.Waits().Insert(w)
}

// EraseRow removes a wait.
func EraseRow(tx storage.Tx, id string) error {
	return tx.Waits().Erase(id)
}

package tasks

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new task.
func InsertRow(tx storage.Tx, t parley.Task) error {
	return tx.Tasks().Insert(t)
}

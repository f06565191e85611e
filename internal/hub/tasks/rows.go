package tasks

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// InsertRow stores a new task.
func InsertRow(tx parley.Tx, t parley.Task) error {
	return tx.Tasks().Insert(t)
}

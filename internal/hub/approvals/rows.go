package approvals

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new approval.
func InsertRow(tx storage.Tx, a parley.Approval) error {
	return tx.Approvals().Insert(a)
}

// SaveRow stores a changed approval.
func SaveRow(tx storage.Tx, a parley.Approval) error {
	return tx.Approvals().Put(a)
}

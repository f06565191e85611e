package approvals

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// InsertRow stores a new approval.
func InsertRow(tx parley.Tx, a parley.Approval) error {
	return tx.Approvals().Insert(a)
}

// SaveRow stores a changed approval.
func SaveRow(tx parley.Tx, a parley.Approval) error {
	return tx.Approvals().Put(a)
}

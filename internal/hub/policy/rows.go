package policy

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// SaveRule stores a rule.
func SaveRule(tx parley.Tx, p parley.Permission) error {
	return tx.Permissions().Put(p)
}

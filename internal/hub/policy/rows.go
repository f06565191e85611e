package policy

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// SaveRule stores a rule.
func SaveRule(tx storage.Tx, p parley.Permission) error {
	return tx.Permissions().Put(p)
}

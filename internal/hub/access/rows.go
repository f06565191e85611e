package access

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertToken stores a new token by its hash.
func InsertToken(tx storage.Tx, t parley.Token, hash [32]byte) error {
	return tx.Tokens().Insert(t, hash)
}

// SaveToken stores a changed token.
func SaveToken(tx storage.Tx, t parley.Token) error {
	return tx.Tokens().Put(t)
}

// EraseToken erases the token of a run.
func EraseToken(tx storage.Tx, run string) error {
	return tx.Tokens().Erase(run)
}

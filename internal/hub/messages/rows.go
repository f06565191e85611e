package messages

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a message that has its place in the order.
func InsertRow(tx storage.Tx, m parley.Message) error {
	return tx.Messages().Insert(m)
}

// RedactRow stores a message without its body.
func RedactRow(tx storage.Tx, m parley.Message) error {
	return tx.Messages().Redact(m)
}

package messages

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// InsertRow stores a message that has its place in the order.
func InsertRow(tx parley.Tx, m parley.Message) error {
	return tx.Messages().Insert(m)
}

// RedactRow stores a message without its body.
func RedactRow(tx parley.Tx, m parley.Message) error {
	return tx.Messages().Redact(m)
}

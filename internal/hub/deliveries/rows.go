package deliveries

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRows stores the deliveries of a message.
func InsertRows(tx storage.Tx, m parley.Message, to []parley.Reach) ([]parley.Delivery, error) {
	return tx.Deliveries().Insert(m, to)
}

// CountRow sets the number of the last message from a sender to a recipient, for a message without a delivery.
func CountRow(tx storage.Tx, from, to string, n int64) error {
	return tx.Deliveries().Count(from, to, n)
}

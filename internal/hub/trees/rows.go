package trees

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// Arrived stores which message a document has become.
func Arrived(tx parley.Tx, row parley.FileRow) error {
	return tx.Bridges().Arrived(row)
}

package store

import (
	"database/sql"

	"github.com/parley-hub/parley"
)

// rowBytes is an estimate of the memory for a row without its texts.
const rowBytes = 256

// byteLimit limits how many bytes a transaction may read.
type byteLimit struct{ limit, left int64 }

// LimitBytes implements storage.Tx.
func (t *tx) LimitBytes(bytes int64) { t.byteLimit = &byteLimit{bytes, bytes} }

// checkByteLimit subtracts the size of a row from the bytes that the transaction may still read. It returns an error if none are
// left.
func (t *tx) checkByteLimit(dest []any) error {
	if t.byteLimit == nil {
		return nil
	}
	t.byteLimit.left -= int64(rowBytes + sizeOf(dest))
	if t.byteLimit.left >= 0 {
		return nil
	}
	return parley.Errorf(parley.BadInput, "the answer would exceed %d MiB", t.byteLimit.limit>>20).Because(parley.TooLarge).
		Suggest("request fewer items at once with a smaller limit, or one item")
}

// sizeOf returns how many bytes of text were scanned into dest.
func sizeOf(dest []any) (n int) {
	for _, to := range dest {
		switch to := to.(type) {
		case *string:
			n += len(*to)
		case *[]byte:
			n += len(*to)
		case *sql.NullString:
			n += len(to.String)
		}
	}
	return n
}

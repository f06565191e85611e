package store

import (
	"database/sql"

	"github.com/parley-hub/parley"
)

// rowCost is what a row costs in memory beside its texts.
const rowCost = 256

// bound is how many bytes a transaction may read.
type bound struct{ limit, left int64 }

// Bound implements parley.Tx.
func (t *tx) LimitBytes(bytes int64) { t.bound = &bound{bytes, bytes} }

// spend counts a row that was read against the bound of the transaction.
func (t *tx) spend(dest []any) error {
	if t.bound == nil {
		return nil
	}
	t.bound.left -= int64(rowCost + sizeOf(dest))
	if t.bound.left >= 0 {
		return nil
	}
	return parley.Errorf(parley.BadInput, "the answer would have more than %d MiB", t.bound.limit>>20).Because(parley.TooLarge).
		Suggest("ask for fewer at once, with a smaller limit, or for one of them")
}

// sizeOf is how many bytes of text were scanned.
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

package storage

import (
	"github.com/parley-hub/parley"
)

// ListedAsk is an ask with the seq of its question, by which asks are listed.
type ListedAsk struct {
	parley.Wait
	Seq int64
}

package unit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// SetDefault sets a field that has its zero value.
func SetDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Clamp returns n, but at most most, or otherwise if n is not positive.
func Clamp(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

// After returns a pointer to the time d after now, to the millisecond.
func After(now time.Time, d time.Duration) *time.Time {
	t := now.Add(d).Truncate(time.Millisecond)
	return &t
}

// NewID returns a new id, which sorts by time.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("hub: the system has no randomness: " + err.Error())
	}
	return id.String()
}

// SortBySeq sorts messages by their place in the order.
func SortBySeq(list []parley.Message) {
	slices.SortFunc(list, func(a, b parley.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

// ConversationKey returns the name in a #name, in lower case.
func ConversationKey(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "#")) }

// BridgeNames returns the ids of all bridges.
func BridgeNames(tx storage.Tx) (names []string, err error) {
	all, err := tx.Bridges().List()
	for _, b := range all {
		names = append(names, b.ID)
	}
	return names, err
}

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

func SetDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func Clamp(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

func After(now time.Time, d time.Duration) *time.Time {
	t := now.Add(d).Truncate(time.Millisecond)
	return &t
}

func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("hub: the system has no randomness: " + err.Error())
	}
	return id.String()
}

func SortBySeq(list []parley.Message) {
	slices.SortFunc(list, func(a, b parley.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

// ConversationKey is the name in a #name.
func ConversationKey(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "#")) }

func BridgeNames(tx storage.Tx) (names []string, err error) {
	all, err := tx.Bridges().List()
	for _, b := range all {
		names = append(names, b.ID)
	}
	return names, err
}

package store

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// query builds a statement whose parts depend on a filter. A ? stands for the next argument.
type query struct {
	text strings.Builder
	args []any
}

func (q *query) add(part string, args ...any) {
	for _, arg := range args {
		q.args = append(q.args, arg)
		part = strings.Replace(part, "?", fmt.Sprintf("$%d", len(q.args)), 1)
	}
	q.text.WriteString(part + " ")
}

func (q *query) kinds(kinds []parley.ConversationKind) {
	if len(kinds) == 0 {
		return
	}
	q.add("AND c.kind IN (")
	for _, kind := range kinds {
		q.add("?,", string(kind))
	}
	q.add("'')")
}

// among adds a condition that a column has one of the keys. There must be at least one key. It repeats the last key until the
// list has one of a few lengths, so that there are few statements to prepare.
func (q *query) among(column string, keys []any) {
	size := 1
	for size < len(keys) {
		size *= 4
	}
	q.add("AND " + column + " IN (")
	for i := range size {
		if i > 0 {
			q.add(",")
		}
		q.add("?", keys[min(i, len(keys)-1)])
	}
	q.add(")")
}

// uuids returns the keys of the ids, without ids that are no UUIDs.
func uuids(ids []string) (keys []any) {
	for _, id := range ids {
		if key, err := uuid.Parse(id); err == nil {
			keys = append(keys, key[:])
		}
	}
	return keys
}

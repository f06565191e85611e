package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/parley-hub/parley"
)

// record is a row as it is read. Its value may need further queries, for the ids of agents.
type record[V any] interface {
	dest() []any
	value(*tx) (V, error)
}

// namedRecord is a record whose id is known even if the row cannot be read.
type namedRecord interface{ name() (what, id string) }

// skipRecord returns nil if the transaction leaves out this record, which cannot be read because of err. Otherwise it returns an
// error.
func skipRecord(t *tx, row any, err error) error {
	if row, named := row.(namedRecord); named {
		what, id := row.name()
		return t.noteUnreadable(what, id, err)
	}
	return err
}

// SkipUnreadable implements storage.Tx.
func (t *tx) SkipUnreadable(report func(parley.Damage)) (restore func()) {
	before := t.unreadable
	if report == nil {
		report = func(parley.Damage) {}
	}
	t.unreadable = report
	return func() { t.unreadable = before }
}

// readUpTo reads limit records. It reads another record for each record that the transaction leaves out.
func readUpTo[V any](t *tx, limit int, read func(limit int) ([]V, error)) ([]V, error) {
	report := t.unreadable
	if report == nil {
		return read(limit)
	}
	defer func() { t.unreadable = report }()
	for requested := limit; ; {
		skipped := 0
		t.unreadable = func(d parley.Damage) {
			skipped++
			report(d)
		}
		list, err := read(requested)
		if err != nil || len(list) >= limit || len(list)+skipped < requested || requested == math.MaxInt32 {
			return list[:min(len(list), limit)], err
		}
		requested = min(limit+skipped, math.MaxInt32)
	}
}

// noteUnreadable notes that a row cannot be read because of err. It returns nil if the transaction leaves such rows out. Then the
// query continues with the next row.
func (t *tx) noteUnreadable(what, id string, err error) error {
	if err == nil || t.broken != nil {
		return err
	}
	damage := parley.Damage{What: what, ID: id, Why: "its row cannot be read: " + err.Error()}
	t.damages.add(damage)
	if t.unreadable == nil {
		return damage.Err()
	}
	t.unreadable(damage)
	return nil
}

// readAll reads the rows of a query, and then turns each row into its value.
func readAll[V any, R record[V]](t *tx, empty func() R, query string, args ...any) ([]V, error) {
	var rows []R
	err := t.each(query, args, func(r Rows) error {
		row := empty()
		dest := row.dest()
		if err := r.Scan(dest...); err != nil {
			return skipRecord(t, row, err)
		}
		rows = append(rows, row)
		return t.checkByteLimit(dest)
	})
	if err != nil {
		return nil, err
	}
	list := make([]V, 0, len(rows))
	for _, row := range rows {
		v, err := row.value(t)
		if err == nil {
			list = append(list, v)
		} else if err = skipRecord(t, row, err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// onlyRecord returns the first value of a list, or parley.ErrNotFound if the list is empty.
func onlyRecord[V any](list []V, err error) (first V, _ error) {
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return first, err
	}
	return list[0], nil
}

// conversationNamed returns an expression for the id in a column. It is NULL if there is no such conversation or it is deleted.
// messageNamed does the same for a message.
func conversationNamed(column string) string {
	return "(SELECT c.id FROM conversations c WHERE c.id = " + column + " AND " + notDeleted + ")"
}

func messageNamed(column string) string {
	return "(SELECT m.id FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.id = " + column + " AND " + notDeleted + ")"
}

// nums returns the numbers of participants, and NULL for an empty name. It returns ErrNotFound if a participant does not exist.
func (t *tx) nums(names ...string) ([]any, error) {
	list := make([]any, len(names))
	for i, name := range names {
		if name == "" {
			continue
		}
		row, err := t.agentNamed(name)
		if err != nil {
			return nil, err
		}
		list[i] = row.num
	}
	return list, nil
}

// nameAll sets fields to the ids of the participants with these numbers.
func (t *tx) nameAll(fields map[*string]sql.NullInt64) (err error) {
	for field, num := range fields {
		if num.Valid {
			if *field, err = t.agentID(num.Int64); err != nil {
				return err
			}
		}
	}
	return nil
}

// keysOf returns ids as they are stored, and NULL for an empty id.
func keysOf(ids ...string) ([]any, error) {
	keys := make([]any, len(ids))
	for i, id := range ids {
		key, err := uuidOrNull(id)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

// idsOf sets fields to the text of stored ids.
func idsOf(fields map[*string][]byte) (err error) {
	for field, raw := range fields {
		if *field, err = uuidText(raw); err != nil {
			return err
		}
	}
	return nil
}

func jsonOrNull[T any](v *T) (sql.NullString, error) {
	if v == nil {
		return sql.NullString{}, nil
	}
	raw, err := json.Marshal(v)
	return sql.NullString{String: string(raw), Valid: true}, err
}

func fromJSON[T any](what string, raw sql.NullString) (*T, error) {
	if !raw.Valid {
		return nil, nil
	}
	v := new(T)
	if err := json.Unmarshal([]byte(raw.String), v); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// byID replaces the keys of a map, which are agents' numbers, by the agents' ids. It returns err if err is not nil.
func byID[V any](t *tx, byNum map[int64]V, err error) (map[string]V, error) {
	named := map[string]V{}
	for num, v := range byNum {
		if err != nil {
			break
		}
		var id string
		id, err = t.agentID(num)
		named[id] = v
	}
	return named, err
}

package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/parley-hub/parley"
)

// record is a row as it is read. Its value may need further queries: of the agents' ids.
type record[V any] interface {
	dest() []any
	value(*tx) (V, error)
}

// namedRecord is a record that can be named though it cannot be read.
type namedRecord interface{ name() (what, id string) }

// skip is nil where a record that cannot be read may be left out.
func skip(t *tx, row any, err error) error {
	if row, named := row.(namedRecord); named {
		what, id := row.name()
		return t.leaveOut(what, id, err)
	}
	return err
}

// LeaveOut implements parley.Tx.
func (t *tx) SkipUnreadable(tell func(parley.Damage)) (strict func()) {
	before := t.unreadable
	if tell == nil {
		tell = func(parley.Damage) {}
	}
	t.unreadable = tell
	return func() { t.unreadable = before }
}

// upTo reads limit records, another one for each that is left out.
func upTo[V any](t *tx, limit int, read func(limit int) ([]V, error)) ([]V, error) {
	tell := t.unreadable
	if tell == nil {
		return read(limit)
	}
	defer func() { t.unreadable = tell }()
	for asked := limit; ; {
		left := 0
		t.unreadable = func(d parley.Damage) {
			left++
			tell(d)
		}
		list, err := read(asked)
		if err != nil || len(list) >= limit || len(list)+left < asked || asked == math.MaxInt32 {
			return list[:min(len(list), limit)], err
		}
		asked = min(limit+left, math.MaxInt32)
	}
}

// leaveOut notes a row that cannot be read. It returns nil, and the query goes on with the next one, if the transaction
// leaves such rows out.
func (t *tx) leaveOut(what, id string, err error) error {
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

// readAll reads the rows of a query, and then what they stand for.
func readAll[V any, R record[V]](t *tx, empty func() R, query string, args ...any) ([]V, error) {
	var rows []R
	err := t.each(query, args, func(r Rows) error {
		row := empty()
		dest := row.dest()
		if err := r.Scan(dest...); err != nil {
			return skip(t, row, err)
		}
		rows = append(rows, row)
		return t.spend(dest)
	})
	if err != nil {
		return nil, err
	}
	list := make([]V, 0, len(rows))
	for _, row := range rows {
		v, err := row.value(t)
		if err == nil {
			list = append(list, v)
		} else if err = skip(t, row, err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// only is the one there is of a list. parley.ErrNotFound if it is empty.
func only[V any](list []V, err error) (first V, _ error) {
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return first, err
	}
	return list[0], nil
}

// conversationNamed and messageNamed are the id in a column, if what it names is there.
func conversationNamed(column string) string {
	return "(SELECT c.id FROM conversations c WHERE c.id = " + column + " AND " + alive + ")"
}

func messageNamed(column string) string {
	return "(SELECT m.id FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.id = " + column + " AND " + alive + ")"
}

// nums are the numbers of participants, NULL for none. ErrNotFound if one does not exist.
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

// nameAll puts the ids of participants into fields.
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

// keysOf are ids as they are stored, NULL for none.
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

// idsOf puts ids as they are stored into fields.
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

// byID has what was counted by the agents' numbers, by their ids.
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

package anima

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// column is a column that may have several names, and may be missing.
type column []string

// table is a table with the columns that are read of it.
type table struct {
	name    string
	columns []column
	needed  int // the first so many columns must be there
	order   string
}

var (
	conversationTable = table{"conversations", []column{{"id"}, {"name", "title"}, {"created_at", "created"}, {"updated_at", "updated"}}, 1, "1"}
	memberTable       = table{"participants", []column{{"conv_id", "conversation_id"}, {"agent", "name"}, {"joined_at", "joined"}}, 2, "1, 2"}
	// The order of messages is the one in which they were added.
	messageTable = table{"messages", []column{
		{"conv_id", "conversation_id"}, {"from_agent", "from", "sender"}, {"content", "text"}, {"id"}, {"mentions"}, {"created_at", "timestamp"},
	}, 3, "rowid"}
)

// query is the statement that reads the columns, NULL for those that are not there. ErrNotFound if there is no such table.
func (t table) query(ctx context.Context, db *sql.DB) (string, error) {
	var kind string
	err := db.QueryRowContext(ctx, "SELECT type FROM sqlite_schema WHERE name = ? AND type = 'table'", t.name).Scan(&kind)
	if errors.Is(err, sql.ErrNoRows) {
		return "", parley.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	there, err := queryStrings(ctx, db, "SELECT name FROM pragma_table_info(?)", t.name)
	if err != nil {
		return "", err
	}
	chosen := make([]string, len(t.columns))
	for i, names := range t.columns {
		at := slices.IndexFunc(names, func(name string) bool { return slices.Contains(there, name) })
		switch {
		case at >= 0:
			chosen[i] = `"` + names[at] + `"`
		case i < t.needed:
			return "", parley.Errorf(parley.BadInput, "the table %s has no column %s", t.name, names[0]).Suggest("give the conversations.db of Anima")
		default:
			chosen[i] = "NULL"
		}
	}
	return "SELECT " + strings.Join(chosen, ", ") + " FROM " + t.name + " ORDER BY " + t.order, nil
}

func queryStrings(ctx context.Context, db *sql.DB, query string, args ...any) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// each reads the rows of a table. A table that is not there has none.
func (r *reader) each(ctx context.Context, t table, fn func(row []any) error) error {
	query, err := t.query(ctx, r.db)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return readError(err)
	}
	rows, err := r.db.QueryContext(ctx, query)
	if err != nil {
		return readError(err)
	}
	defer func() { _ = rows.Close() }()
	row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return readError(err)
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return readError(err)
	}
	return nil
}

// textOf is a value as text, in which what no hub takes is replaced.
func textOf(value any) string {
	var raw string
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		raw = v
	case []byte:
		raw = string(v)
	default:
		raw = fmt.Sprint(v)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(raw, "\uFFFD"), "\x00", "\uFFFD")
}

// parseTime is a time: seconds or milliseconds since 1970, which are told apart by their size, or words. What is none is
// otherwise.
func parseTime(value any, otherwise time.Time) time.Time {
	var n float64
	switch v := value.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	case time.Time:
		return v.UTC().Truncate(time.Millisecond)
	default:
		words := textOf(v)
		for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
			if t, err := time.Parse(layout, words); err == nil {
				return t.UTC().Truncate(time.Millisecond)
			}
		}
		n, _ = strconv.ParseFloat(words, 64)
	}
	const (
		millis = 1e11 // as seconds in the year 5138, as milliseconds in 1973
		most   = 253402300799e3
	)
	if n < millis {
		n *= 1e3
	}
	if n <= 0 || n > most || math.IsNaN(n) {
		return otherwise
	}
	return time.UnixMilli(int64(n)).UTC()
}

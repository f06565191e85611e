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

// column has the possible names of a column, which may be missing.
type column []string

// table is a table with the columns to read.
type table struct {
	name    string
	columns []column
	needed  int // number of columns, from the first, that must exist
	order   string
}

var (
	conversationTable = table{"conversations", []column{{"id"}, {"name", "title"}, {"created_at", "created"}, {"updated_at", "updated"}}, 1, "1"}
	memberTable       = table{"participants", []column{{"conv_id", "conversation_id"}, {"agent", "name"}, {"joined_at", "joined"}}, 2, "1, 2"}
	// Messages are in the order in which they were added.
	messageTable = table{"messages", []column{
		{"conv_id", "conversation_id"}, {"from_agent", "from", "sender"}, {"content", "text"}, {"id"}, {"mentions"}, {"created_at", "timestamp"},
	}, 3, "rowid"}
)

// query returns the statement that reads the columns, with NULL for missing ones. ErrNotFound if the table does not
// exist.
func (t table) query(ctx context.Context, db *sql.DB) (string, error) {
	var kind string
	err := db.QueryRowContext(ctx, "SELECT type FROM sqlite_schema WHERE name = ? AND type = 'table'", t.name).Scan(&kind)
	if errors.Is(err, sql.ErrNoRows) {
		return "", parley.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	existing, err := queryStrings(ctx, db, "SELECT name FROM pragma_table_info(?)", t.name)
	if err != nil {
		return "", err
	}
	chosen := make([]string, len(t.columns))
	for i, names := range t.columns {
		at := slices.IndexFunc(names, func(name string) bool { return slices.Contains(existing, name) })
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

// each calls fn for the rows of a table. A missing table has no rows.
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

// textOf returns a value as text, and replaces characters that a hub refuses.
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

// parseTime parses a time: words, or seconds or milliseconds since 1970, which differ in size. It returns otherwise for
// anything else.
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
		text := textOf(v)
		for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC().Truncate(time.Millisecond)
			}
		}
		n, _ = strconv.ParseFloat(text, 64)
	}
	const (
		millis    = 1e11 // as seconds in the year 5138, as milliseconds in 1973
		maxMillis = 253402300799e3
	)
	if n < millis {
		n *= 1e3
	}
	if n <= 0 || n > maxMillis || math.IsNaN(n) {
		return otherwise
	}
	return time.UnixMilli(int64(n)).UTC()
}

package store

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

type names struct{ *tx }

// namedRows says how to find the rows of a noun by number and by id. In conditions, the row is x.
type namedRows struct {
	table, number string
	columns       string // the id, and the columns that the conditions need
	exists        string // the condition for a row whose conversation was not deleted
}

const inConversation = "EXISTS (SELECT 1 FROM conversations c WHERE c.num = x.conv AND " + notDeleted + ")"

var namedTables = map[parley.Noun]namedRows{
	parley.NounMessage:  {"messages", "seq", "seq, id, conv", inConversation},
	parley.NounRun:      {"runs", "number", "number, id, conv, agent", inConversation},
	parley.NounApproval: {"approvals", "number", "number, id, agent, decider", "1 = 1"},
}

func (s names) Numbered(noun parley.Noun, number int64) (string, error) {
	rows, known := namedTables[noun]
	if !known {
		return "", parley.ErrNotFound
	}
	var id []byte
	err := s.row("SELECT x.id FROM "+rows.table+" x WHERE x."+rows.number+" = $1 AND "+rows.exists, []any{number}, []any{&id})
	if err != nil {
		return "", err
	}
	return uuidText(id)
}

func (s names) Like(noun parley.Noun, p parley.IDPiece, reader storage.IDReader, limit int) (list []storage.NamedID, err error) {
	rows, known := namedTables[noun]
	if !known {
		return nil, nil
	}
	for _, find := range []func(namedRows, parley.IDPiece) (*query, error){beginningWith, endingWith} {
		q, err := find(rows, p)
		if err != nil {
			return nil, err
		}
		q.add("AND " + rows.exists)
		if err := s.readableBy(q, noun, reader); err != nil {
			return nil, err
		}
		if list, err = s.collect(q, p, list, limit); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// beginningWith selects the ids that begin with a piece. They are next to each other in the index.
func beginningWith(rows namedRows, p parley.IDPiece) (*query, error) {
	const digits = 32
	missing := digits - len(p)
	low, err := hex.DecodeString(string(p) + strings.Repeat("0", missing))
	if err != nil {
		return nil, err
	}
	high, err := hex.DecodeString(string(p) + strings.Repeat("f", missing))
	if err != nil {
		return nil, err
	}
	q := &query{}
	q.add("SELECT x.id, x." + rows.number + " FROM (SELECT " + rows.columns + " FROM " + rows.table)
	q.add("WHERE id >= ? AND id <= ? ORDER BY id DESC LIMIT 0 + ?) x WHERE 1 = 1", low, high, storage.IDsLookedAt)
	return q, nil
}

// endingWith selects the ids among the newest that end with a piece, because no index has the ends of ids. If the piece has an
// odd number of digits, collect compares the first digit.
func endingWith(rows namedRows, p parley.IDPiece) (*query, error) {
	const size = 16 // bytes of an id
	end, err := hex.DecodeString(string(p[len(p)%2:]))
	if err != nil {
		return nil, err
	}
	q := &query{}
	q.add("SELECT x.id, x." + rows.number + " FROM (SELECT " + rows.columns + " FROM " + rows.table)
	q.add("WHERE "+rows.number+" > 0 ORDER BY "+rows.number+" DESC LIMIT 0 + ?) x", storage.IDsLookedAt)
	q.add(fmt.Sprintf("WHERE substr(x.id, %d) = ?", size-len(end)+1), end)
	return q, nil
}

// readableBy restricts a query to rows that a reader may see.
func (s names) readableBy(q *query, noun parley.Noun, reader storage.IDReader) error {
	if reader.ID == "" {
		return nil
	}
	viewer, err := s.agentNamed(reader.ID)
	if err != nil {
		return err
	}
	if noun == parley.NounMessage {
		q.add(`AND (EXISTS (SELECT 1 FROM conversations c WHERE c.num = x.conv AND (c.kind = 'channel' AND c.visibility = 'public'
				OR EXISTS (SELECT 1 FROM participants p WHERE p.conv = c.num AND p.agent = ?)))
			OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message = x.seq AND d.agent = ?))`, viewer.num, viewer.num)
		return nil
	}
	agents := []any{viewer.num}
	for _, report := range reader.Reports {
		row, err := s.agentNamed(report)
		if err != nil {
			return err
		}
		agents = append(agents, row.num)
	}
	q.add("AND (1 = 0")
	if noun == parley.NounApproval {
		q.add("OR x.decider = ?", viewer.num)
	}
	q.add("OR 1 = 1")
	q.among("x.agent", agents)
	q.add(")")
	return nil
}

// collect appends the ids that a query returns to a list, each id once, up to a limit.
func (s names) collect(q *query, p parley.IDPiece, list []storage.NamedID, limit int) ([]storage.NamedID, error) {
	seen := map[string]bool{}
	for _, one := range list {
		seen[one.ID] = true
	}
	err := s.each(q.text.String(), q.args, func(r Rows) error {
		if len(list) >= limit {
			return errEnough
		}
		var (
			raw    []byte
			number sql.NullInt64
		)
		if err := r.Scan(&raw, &number); err != nil {
			return err
		}
		id, err := uuidText(raw)
		if err != nil || seen[id] || !p.Begins(id) && !p.Ends(id) {
			return nil //nolint:nilerr // a damaged id is nobody's
		}
		seen[id], list = true, append(list, storage.NamedID{ID: id, Number: number.Int64})
		return nil
	})
	return list, err
}

// numberOrNull returns the argument for the number of a short name: NULL for 0.
func numberOrNull(number int64) sql.NullInt64 {
	return sql.NullInt64{Int64: number, Valid: number != 0}
}

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

// namedRows says how the rows of a noun are found by number and id. The row is x.
type namedRows struct {
	table, number string
	columns       string // that the conditions need, and the id
	there         string // the condition for a row whose conversation was not deleted
}

const inConversation = "EXISTS (SELECT 1 FROM conversations c WHERE c.num = x.conv AND " + alive + ")"

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
	err := s.row("SELECT x.id FROM "+rows.table+" x WHERE x."+rows.number+" = $1 AND "+rows.there, []any{number}, []any{&id})
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
		q.add("AND " + rows.there)
		if err := s.readableBy(q, noun, reader); err != nil {
			return nil, err
		}
		if list, err = s.collect(q, p, list, limit); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// beginningWith looks at the ids that begin with a piece, which are next to each other.
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

// endingWith looks at the newest ids, since no index has their ends. Of an odd number of digits the first is left to collect.
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

// readableBy leaves out what a reader does not see.
func (s names) readableBy(q *query, noun parley.Noun, reader storage.IDReader) error {
	if reader.ID == "" {
		return nil
	}
	me, err := s.agentNamed(reader.ID)
	if err != nil {
		return err
	}
	if noun == parley.NounMessage {
		q.add(`AND (EXISTS (SELECT 1 FROM conversations c WHERE c.num = x.conv AND (c.kind = 'channel' AND c.visibility = 'public'
				OR EXISTS (SELECT 1 FROM participants p WHERE p.conv = c.num AND p.agent = ?)))
			OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message = x.seq AND d.agent = ?))`, me.num, me.num)
		return nil
	}
	agents := []any{me.num}
	for _, report := range reader.Reports {
		row, err := s.agentNamed(report)
		if err != nil {
			return err
		}
		agents = append(agents, row.num)
	}
	q.add("AND (1 = 0")
	if noun == parley.NounApproval {
		q.add("OR x.decider = ?", me.num)
	}
	q.add("OR 1 = 1")
	q.among("x.agent", agents)
	q.add(")")
	return nil
}

// collect adds what a query finds to a list, each id once, up to a limit.
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

// numberOrNull stores the number of a short name, if there is one.
func numberOrNull(number int64) sql.NullInt64 {
	return sql.NullInt64{Int64: number, Valid: number != 0}
}

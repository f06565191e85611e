package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type log struct{ *tx }

func (s log) Append(events ...parley.Event) error {
	seq, err := s.lastSeq()
	if err != nil {
		return err
	}
	for _, e := range events {
		agent, err := s.agentOrNull(e.Agent)
		if err != nil {
			return err
		}
		actor, err := s.agentOrNull(e.By)
		if err != nil {
			return err
		}
		conv, err := uuidOrNull(e.Conversation)
		if err != nil {
			return err
		}
		message, err := uuidOrNull(e.Message)
		if err != nil {
			return err
		}
		err = s.write(`INSERT INTO events (num, at, kind, conv, agent, actor, message, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			seq+1, millis(e.At), string(e.Kind), conv, agent, actor, message, textOrNull(string(e.Data)))
		if err != nil {
			return err
		}
		seq++
		s.counters.seq = seq
	}
	return nil
}

func (t *tx) agentOrNull(id string) (num sql.NullInt64, err error) {
	if id == "" {
		return num, nil
	}
	row, err := t.agentNamed(id)
	if err != nil {
		return num, err
	}
	return sql.NullInt64{Int64: row.num, Valid: true}, nil
}

func (s log) Events(after int64, limit int) ([]parley.Event, error) {
	posted, err := s.messageEvents(after, limit)
	if err != nil {
		return nil, err
	}
	others, err := s.otherEvents(after, limit)
	if err != nil {
		return nil, err
	}
	list := slices.Concat(posted, others)
	slices.SortFunc(list, func(a, b parley.Event) int { return cmp.Compare(a.Num, b.Num) })
	return list[:min(limit, len(list))], nil
}

// messageEvents returns messages as events.
func (s log) messageEvents(after int64, limit int) ([]parley.Event, error) {
	return s.collect(`SELECT m.seq, m.created_at, 'message.posted', c.id, m.sender, m.sender, m.id, NULL
		FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.seq > $1 AND `+notDeleted+`
		ORDER BY m.seq LIMIT 0 + $2`, after, limit)
}

func (s log) otherEvents(after int64, limit int) ([]parley.Event, error) {
	return s.collect(`SELECT num, at, kind, conv, agent, actor, message, data FROM events
		WHERE num > $1 ORDER BY num LIMIT 0 + $2`, after, limit)
}

func (s log) collect(query string, args ...any) ([]parley.Event, error) {
	var (
		list   []parley.Event
		agents [][2]sql.NullInt64
	)
	err := s.each(query, args, func(r Rows) error {
		var (
			e             parley.Event
			at            int64
			kind          string
			conv, message []byte
			nums          [2]sql.NullInt64
			data          sql.NullString
		)
		if err := r.Scan(&e.Num, &at, &kind, &conv, &nums[0], &nums[1], &message, &data); err != nil {
			return err
		}
		e.At, e.Kind = fromMillis(at), parley.EventKind(kind)
		if data.Valid {
			e.Data = json.RawMessage(data.String)
		}
		s.setReferences(&e, conv, message)
		list, agents = append(list, e), append(agents, nums)
		return nil
	})
	for i := range list {
		if err == nil && agents[i][0].Valid {
			list[i].Agent, err = s.agentID(agents[i][0].Int64)
			err = ignoreMissing(err)
		}
		if err == nil && agents[i][1].Valid {
			list[i].By, err = s.agentID(agents[i][1].Int64)
			err = ignoreMissing(err)
		}
	}
	return list, err
}

// setReferences sets the conversation and message of an event. If the row is damaged, it notes the damage and clears these fields
// and the data, so that the reader can continue after the event.
func (s log) setReferences(e *parley.Event, conv, message []byte) {
	var errs [2]error
	e.Conversation, errs[0] = uuidText(conv)
	e.Message, errs[1] = uuidText(message)
	if errors.Join(errs[:]...) == nil && (e.Data == nil || json.Valid(e.Data)) {
		return
	}
	e.Conversation, e.Message, e.Data = "", "", nil
	s.damages.add(parley.Damage{What: "event", Seq: e.Num, Why: "its row cannot be read"})
}

func (s log) Bounds() (oldest, newest int64, err error) {
	if newest, err = s.lastSeq(); err != nil || newest == 0 {
		return 0, 0, err
	}
	err = s.row("SELECT pruned + 1 FROM counters", nil, []any{&oldest})
	return oldest, newest, err
}

func (s log) Prune(before time.Time, limit int) (int, error) {
	const oldest = "(SELECT num, at FROM events ORDER BY num LIMIT 0 + $1) AS o"
	var upTo int64
	// The number of the last event to erase: within the limit, and before the first event that is too young.
	err := s.row("SELECT coalesce(max(num), 0) FROM "+oldest+` WHERE num < coalesce(
		(SELECT min(num) FROM `+oldest+" WHERE at >= $2), num + 1)", []any{limit, millis(before)}, []any{&upTo})
	if err != nil || upTo == 0 {
		return 0, err
	}
	if err := s.saveSeq(); err != nil {
		return 0, err
	}
	if err := s.write("UPDATE counters SET pruned = $1", upTo); err != nil {
		return 0, err
	}
	n, err := s.exec("DELETE FROM events WHERE num <= $1", upTo)
	return int(n), err
}

func (s log) AppendAudit(e parley.AuditEntry) error {
	before, err := s.AuditHead()
	if err != nil {
		return err
	}
	e.Num = before.Num + 1
	e.At = fromMillis(millis(e.At))
	return s.write(`INSERT INTO audit (num, at, actor, act, subject, detail, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		e.Num, millis(e.At), e.Actor, e.Act, e.Subject, textOrNull(string(e.Detail)), e.Chain(before.Hash))
}

func (s log) AuditHead() (head parley.AuditHead, err error) {
	err = s.row("SELECT num, hash FROM audit ORDER BY num DESC LIMIT 1", nil, []any{&head.Num, &head.Hash})
	_, err = notFound(err)
	return head, err
}

func (s log) AuditEntries(after int64, limit int) ([]parley.AuditEntry, error) {
	var list []parley.AuditEntry
	err := s.each(`SELECT num, at, actor, act, subject, detail, hash FROM audit WHERE num > $1 ORDER BY num LIMIT 0 + $2`,
		[]any{after, limit}, func(r Rows) error {
			var (
				e      parley.AuditEntry
				at     int64
				detail sql.NullString
			)
			if err := r.Scan(&e.Num, &at, &e.Actor, &e.Act, &e.Subject, &detail, &e.Hash); err != nil {
				return s.noteUnreadable("entry", fmt.Sprintf("%d of the audit log", e.Num), err)
			}
			e.At = fromMillis(at)
			if detail.Valid {
				e.Detail = json.RawMessage(detail.String)
			}
			list = append(list, e)
			return nil
		})
	return list, err
}

// uuidOrNull returns the argument for a column that holds a UUID or NULL.
func uuidOrNull(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	id, err := uuid.Parse(s)
	return id[:], err
}

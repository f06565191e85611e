package store

import (
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type tokens struct{ *tx }

const tokenColumns = `t.id, t.agent, t.kind, t.label, t.scopes, t.created_by, t.created_at, t.expires_at, t.revoked_at, t.session_until`

func (s tokens) Insert(t parley.Token, hash parley.TokenHash) error {
	id, err := uuid.Parse(t.ID)
	if err != nil {
		return err
	}
	holder, err := s.agentNamed(t.Agent)
	if err != nil {
		return err
	}
	maker, err := s.agentNamed(t.CreatedBy)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO tokens (id, hash, agent, kind, label, scopes, created_by, created_at, expires_at, revoked_at, session_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		id[:], hash[:], holder.num, string(t.Kind), textOrNull(t.Label), t.Scopes.Join(","), maker.num,
		millis(t.CreatedAt), millisOrNull(t.ExpiresAt), millisOrNull(t.RevokedAt), millisOrNull(t.SessionUntil))
	return requireRow(n, err, parley.ErrTaken)
}

func (s tokens) Find(hash parley.TokenHash) (parley.Token, error) {
	return s.one("WHERE t.hash = $1", hash[:])
}

func (s tokens) Get(id string) (parley.Token, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.Token{}, parley.ErrNotFound
	}
	return s.one("WHERE t.id = $1", key[:])
}

func (s tokens) one(where string, arg any) (parley.Token, error) {
	list, err := s.collect("SELECT "+tokenColumns+" FROM tokens t "+where, arg)
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return parley.Token{}, err
	}
	return list[0], nil
}

func (s tokens) List(f parley.TokenFilter) ([]parley.Token, error) {
	var q query
	q.add("SELECT " + tokenColumns + " FROM tokens t WHERE t.kind NOT IN ('link', 'run', 'approval')")
	if f.Agent != "" {
		holder, err := s.agentNamed(f.Agent)
		if missing, err := notFound(err); missing || err != nil {
			return nil, err
		}
		q.add("AND t.agent = ?", holder.num)
	}
	if f.Before != "" {
		key, err := uuid.Parse(f.Before)
		if err != nil {
			return nil, nil // no token has such an id
		}
		q.add("AND t.id < ?", key[:])
	}
	q.add("ORDER BY t.id DESC LIMIT 0 + ?", f.Limit)
	return s.collect(q.text.String(), q.args...)
}

func (s tokens) CountUsable(agent string, now time.Time) (n int, err error) {
	holder, err := s.agentNamed(agent)
	if err != nil {
		return 0, err
	}
	err = s.row(`SELECT count(*) FROM tokens WHERE agent = $1 AND kind IN ('token', 'session', 'link') AND revoked_at IS NULL
		AND (expires_at IS NULL OR expires_at > $2)`, []any{holder.num, millis(now)}, []any{&n})
	return n, err
}

func (s tokens) Put(t parley.Token) error {
	key, err := uuid.Parse(t.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	n, err := s.exec("UPDATE tokens SET revoked_at = $2 WHERE id = $1", key[:], millisOrNull(t.RevokedAt))
	return requireRow(n, err, parley.ErrNotFound)
}

func (s tokens) Erase(id string) error {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.ErrNotFound
	}
	n, err := s.exec("DELETE FROM tokens WHERE id = $1", key[:])
	return requireRow(n, err, parley.ErrNotFound)
}

func (s tokens) Forget(kind parley.TokenKind, before time.Time, limit int) (int, error) {
	n, err := s.exec(`DELETE FROM tokens WHERE id IN (SELECT id FROM tokens
		WHERE kind = $1 AND coalesce(revoked_at, expires_at) < $2 LIMIT 0 + $3)`, string(kind), millis(before), limit)
	return int(n), err
}

func (s tokens) collect(query string, args ...any) ([]parley.Token, error) {
	var (
		list   []parley.Token
		agents [][2]int64
	)
	err := s.each(query, args, func(r Rows) error {
		t, holder, maker, err := scanToken(r)
		if err != nil {
			return s.noteUnreadable("token", t.ID, err)
		}
		list, agents = append(list, t), append(agents, [2]int64{holder, maker})
		return nil
	})
	whole := list[:0]
	for i, t := range list {
		if err != nil {
			break
		}
		if t.Agent, err = s.agentID(agents[i][0]); err == nil {
			t.CreatedBy, err = s.agentID(agents[i][1])
		}
		if err == nil {
			whole = append(whole, t)
		}
		err = s.noteUnreadable("token", t.ID, err)
	}
	return whole, err
}

func scanToken(r Rows) (t parley.Token, holder, maker int64, err error) {
	var (
		id                        []byte
		kind, scopes              string
		label                     sql.NullString
		created                   int64
		expires, revoked, session sql.NullInt64
	)
	err = r.Scan(&id, &holder, &kind, &label, &scopes, &maker, &created, &expires, &revoked, &session)
	if t.ID = idText(id); err != nil {
		return t, holder, maker, err
	}
	t.Kind, t.Label, t.Scopes = parley.TokenKind(kind), label.String, splitScopes(scopes)
	t.CreatedAt, t.ExpiresAt, t.RevokedAt = fromMillis(created), timeOrNil(expires), timeOrNil(revoked)
	t.SessionUntil = timeOrNil(session)
	_, err = uuidText(id)
	return t, holder, maker, err
}

func splitScopes(text string) parley.Scopes {
	var scopes parley.Scopes
	for word := range strings.SplitSeq(text, ",") {
		scopes = append(scopes, parley.Scope(word))
	}
	return scopes
}

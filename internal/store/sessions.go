package store

import (
	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

type sessions struct{ *tx }

func (s sessions) Insert(row storage.SessionRow) error {
	id, err := uuid.Parse(row.ID)
	if err != nil {
		return err
	}
	agent, err := s.agentNamed(row.Agent)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO client_sessions (id, agent, key, client, kind, wake, since, last_sign, node, until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		id[:], agent.num, row.Key, row.Client, string(row.Kind), string(row.Wake), millis(row.Since), millis(row.LastSign), row.Node, int64(row.Until))
	if err == nil && n == 0 {
		err = parley.ErrTaken
	}
	return err
}

func (s sessions) Put(row storage.SessionRow) error {
	id, err := uuid.Parse(row.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	n, err := s.exec("UPDATE client_sessions SET wake = $2, last_sign = $3, until = $4, kind = $5, client = $6 WHERE id = $1",
		id[:], string(row.Wake), millis(row.LastSign), int64(row.Until), string(row.Kind), row.Client)
	return missingIfNone(n, err)
}

func (s sessions) Erase(id string) error {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.ErrNotFound
	}
	n, err := s.exec("DELETE FROM client_sessions WHERE id = $1", key[:])
	return missingIfNone(n, err)
}

// missingIfNone returns ErrNotFound for a statement that has changed no row.
func missingIfNone(n int64, err error) error {
	if err == nil && n == 0 {
		err = parley.ErrNotFound
	}
	return err
}

func (s sessions) Get(agent, key string) (storage.SessionRow, error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return storage.SessionRow{}, err
	}
	return onlyRecord(s.find("s.agent = $1 AND s.key = $2", row.num, key))
}

func (s sessions) List() ([]storage.SessionRow, error) { return s.find("1 = 1 ORDER BY s.since, s.id") }

func (s sessions) CountHeld() (map[string]int, error) {
	held := map[string]int{}
	err := s.each("SELECT d.lease, count(*) FROM deliveries d WHERE d.lease IS NOT NULL GROUP BY d.lease", nil, func(r Rows) error {
		var (
			lease []byte
			n     int
		)
		err := r.Scan(&lease, &n)
		held[idText(lease)] = n
		return err
	})
	return held, err
}

func (s sessions) find(where string, args ...any) ([]storage.SessionRow, error) {
	return readAll(s.tx, func() *sessionRow { return &sessionRow{} },
		"SELECT s.id, s.agent, s.key, s.client, s.kind, s.wake, s.since, s.last_sign, s.node, s.until FROM client_sessions s WHERE "+where, args...)
}

// sessionRow is a row of client_sessions as it is read.
type sessionRow struct {
	row             storage.SessionRow
	id              []byte
	agent           int64
	kind, wake      string
	since, lastSign int64
	until           int64
}

func (r *sessionRow) dest() []any {
	return []any{&r.id, &r.agent, &r.row.Key, &r.row.Client, &r.kind, &r.wake, &r.since, &r.lastSign, &r.row.Node, &r.until}
}

func (r *sessionRow) value(t *tx) (row storage.SessionRow, err error) {
	row = r.row
	row.ID, row.Kind, row.Wake = idText(r.id), parley.SessionKind(r.kind), parley.SessionWake(r.wake)
	row.Since, row.LastSign, row.Until = fromMillis(r.since), fromMillis(r.lastSign), parley.Tick(r.until)
	row.Agent, err = t.agentID(r.agent)
	return row, err
}

package store

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

type bridges struct{ *tx }

func (s bridges) Insert(b parley.Bridge) error {
	maker, err := s.agentNamed(b.CreatedBy)
	if err != nil {
		return err
	}
	args, err := encodeBridge(b)
	if err != nil {
		return err
	}
	var num int64
	if err := s.row("SELECT coalesce(max(num), 0) + 1 FROM bridges", nil, []any{&num}); err != nil {
		return err
	}
	args = append(args, b.ID, textOrNull(b.QueueAgent), millisOrNull(b.ReplaySince), flag(b.Outside), maker.num, millis(b.CreatedAt), b.Since,
		string(b.Layout), b.Root)
	n, err := s.exec(`UPDATE bridges SET agents = $1, channels = $2, paused = $3, reached = $4, id = $5, queue_agent = $6, replay_since = $7,
			outside = $8, created_by = $9, created_at = $10, since = $11, cursor = $11, removed_at = NULL
		WHERE layout = $12 AND root = $13 AND removed_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM bridges WHERE id = $5)`, args...)
	if n > 0 || err != nil {
		return err
	}
	n, err = s.exec(`INSERT INTO bridges (agents, channels, paused, reached, id, queue_agent, replay_since, outside, created_by, created_at, since,
			cursor, layout, root, num)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14) ON CONFLICT DO NOTHING`, append(args, num)...)
	return requireRow(n, err, parley.ErrTaken)
}

// encodeBridge returns the columns of a bridge that Put replaces.
func encodeBridge(b parley.Bridge) ([]any, error) {
	agents, err := jsonOrNull(&b.Agents)
	if err != nil {
		return nil, err
	}
	var some *[]string
	if len(b.Channels) > 0 {
		some = &b.Channels
	}
	channels, err := jsonOrNull(some)
	return []any{agents, channels, flag(b.Paused), flag(b.Reached)}, err
}

func (s bridges) Get(id string) (parley.Bridge, error) {
	if !canBeName(id) {
		return parley.Bridge{}, parley.ErrNotFound
	}
	return onlyRecord(s.find("AND b.id = $1", id))
}

func (s bridges) List() ([]parley.Bridge, error) { return s.find("ORDER BY b.id") }

func (s bridges) find(rest string, args ...any) ([]parley.Bridge, error) {
	return readAll(s.tx, func() *bridgeRow { return &bridgeRow{} }, `SELECT b.id, b.layout, b.root, b.agents, b.channels, b.queue_agent,
		b.replay_since, b.outside, b.paused, b.created_by, b.created_at, b.since, b.reached
		FROM bridges b WHERE b.removed_at IS NULL `+rest, args...)
}

func (s bridges) Put(b parley.Bridge) error {
	num, err := s.num(b.ID)
	if err != nil {
		return err
	}
	changing, err := encodeBridge(b)
	if err != nil {
		return err
	}
	return s.writeOne("UPDATE bridges SET agents = $2, channels = $3, paused = $4, reached = $5 WHERE num = $1", append([]any{num}, changing...)...)
}

func (s bridges) Remove(id string, at time.Time) error {
	num, err := s.num(id)
	if err != nil {
		return err
	}
	return s.writeOne("UPDATE bridges SET id = $2, removed_at = $3 WHERE num = $1", num, fmt.Sprintf("~%d", num), millis(at)) // frees the id
}

func (s bridges) Cursor(id string) (at int64, err error) {
	num, err := s.num(id)
	if err != nil {
		return 0, err
	}
	return at, s.row("SELECT cursor FROM bridges WHERE num = $1", []any{num}, []any{&at})
}

func (s bridges) MoveCursor(id string, to int64) error {
	num, err := s.num(id)
	if err != nil {
		return err
	}
	return s.write("UPDATE bridges SET cursor = $2 WHERE num = $1 AND cursor < $2", num, to)
}

// num returns the number of a bridge, or ErrNotFound if there is none.
func (s bridges) num(id string) (num int64, err error) {
	if !canBeName(id) {
		return 0, parley.ErrNotFound
	}
	return num, s.row("SELECT num FROM bridges WHERE id = $1 AND removed_at IS NULL", []any{id}, []any{&num})
}

// bridgeRow is a row of bridges as it is read.
type bridgeRow struct {
	bridge                   parley.Bridge
	layout                   string
	agents, channels, queue  sql.NullString
	replay, maker            sql.NullInt64
	outside, paused, reached int
	created                  int64
}

func (row *bridgeRow) dest() []any {
	b := &row.bridge
	return []any{
		&b.ID, &row.layout, &b.Root, &row.agents, &row.channels, &row.queue, &row.replay, &row.outside, &row.paused, &row.maker,
		&row.created, &b.Since, &row.reached,
	}
}

func (row *bridgeRow) value(t *tx) (parley.Bridge, error) {
	b := &row.bridge
	b.Layout, b.QueueAgent, b.ReplaySince = parley.Layout(row.layout), row.queue.String, timeOrNil(row.replay)
	b.Outside, b.Paused, b.Reached, b.CreatedAt = row.outside != 0, row.paused != 0, row.reached != 0, fromMillis(row.created)
	for list, raw := range map[*[]string]sql.NullString{&b.Agents: row.agents, &b.Channels: row.channels} {
		names, err := fromJSON[[]string]("the names in bridge "+b.ID, raw)
		if err != nil {
			return *b, err
		}
		if names != nil {
			*list = *names
		}
	}
	return *b, t.nameAll(map[*string]sql.NullInt64{&b.CreatedBy: row.maker})
}

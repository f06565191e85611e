package store

import (
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type notices struct{ *tx }

func (s notices) Insert(n parley.Notice) error {
	id, err := uuid.Parse(n.ID)
	if err != nil {
		return err
	}
	person, err := s.agentNamed(n.Person)
	if err != nil {
		return err
	}
	approval, err := uuidOrNull(n.Approval)
	if err != nil {
		return err
	}
	changing, err := encodeNotice(n)
	if err != nil {
		return err
	}
	args := []any{id[:], person.num, n.Key, n.Kind, n.Title, n.Text, approval, millis(n.CreatedAt)}
	count, err := s.exec(`INSERT INTO notices (id, person, key, kind, title, text, approval, created_at, attempt, next_at, sent, failure, done)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`, append(args, changing...)...)
	return requireRow(count, err, parley.ErrTaken)
}

// encodeNotice returns the columns of a notice that Put replaces.
func encodeNotice(n parley.Notice) ([]any, error) {
	var sent *[]string
	if len(n.Sent) > 0 {
		sent = &n.Sent
	}
	raw, err := jsonOrNull(sent)
	return []any{n.Attempt, millis(n.NextAt), raw, textOrNull(n.Failure), flag(n.Done)}, err
}

func (s notices) Due(now time.Time, limit int) ([]parley.Notice, error) {
	return s.open("n.next_at <= $1 ORDER BY n.next_at, n.id LIMIT 0 + $2", millis(now), limit)
}

func (s notices) About(approval string) ([]parley.Notice, error) {
	id, err := uuid.Parse(approval)
	if err != nil {
		return nil, nil // no approval has such an id
	}
	return s.open("n.approval = $1 ORDER BY n.id", id[:])
}

// open reads notices that are not done.
func (s notices) open(where string, args ...any) ([]parley.Notice, error) {
	return readAll(s.tx, func() *noticeRow { return &noticeRow{} }, `SELECT n.id, n.person, n.key, n.kind, n.title, n.text, n.approval, n.created_at,
			n.attempt, n.next_at, n.sent, n.failure, n.done
		FROM notices n WHERE n.done = 0 AND `+where, args...)
}

func (s notices) Put(n parley.Notice) error {
	id, err := uuid.Parse(n.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	changing, err := encodeNotice(n)
	if err != nil {
		return err
	}
	count, err := s.exec("UPDATE notices SET attempt = $2, next_at = $3, sent = $4, failure = $5, done = $6 WHERE id = $1",
		append([]any{id[:]}, changing...)...)
	return requireRow(count, err, parley.ErrNotFound)
}

func (s notices) Forget(before time.Time, limit int) (int, error) {
	n, err := s.exec(`DELETE FROM notices WHERE id IN (SELECT id FROM notices
		WHERE done = 1 AND created_at < $1 ORDER BY created_at LIMIT 0 + $2)`, millis(before), limit)
	return int(n), err
}

// noticeRow is a row of notices as it is read.
type noticeRow struct {
	notice        parley.Notice
	id, approval  []byte
	person        sql.NullInt64
	created, next int64
	sent, failure sql.NullString
	done          int
}

func (row *noticeRow) dest() []any {
	n := &row.notice
	return []any{
		&row.id, &row.person, &n.Key, &n.Kind, &n.Title, &n.Text, &row.approval, &row.created, &n.Attempt, &row.next,
		&row.sent, &row.failure, &row.done,
	}
}

func (row *noticeRow) value(t *tx) (parley.Notice, error) {
	n := &row.notice
	if err := idsOf(map[*string][]byte{&n.ID: row.id, &n.Approval: row.approval}); err != nil {
		return *n, err
	}
	n.CreatedAt, n.NextAt, n.Failure, n.Done = fromMillis(row.created), fromMillis(row.next), row.failure.String, row.done != 0
	sent, err := fromJSON[[]string]("the notifiers of notice "+n.ID, row.sent)
	if err != nil {
		return *n, err
	}
	if sent != nil {
		n.Sent = *sent
	}
	return *n, t.nameAll(map[*string]sql.NullInt64{&n.Person: row.person})
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store"
)

const (
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	beginView   = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

	// takeTurn makes the updates of all hubs come one after the other. The first number stands for
	// Parley ("Parl"), the second for the schema, so that others in the same database are not held up.
	takeTurn = "SELECT pg_advisory_xact_lock(1348563564, 'counters'::regclass::oid::int4)"

	outside = 'I' // PostgreSQL's word for a connection without a transaction

	noteCommit = `INSERT INTO commits (writer, batch, at)
		VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
		ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at`
)

// conn is a store.Conn that keeps statements back until there is one whose result somebody wants, and
// then sends all of them in one round trip. It opens its connection when it is first needed, and
// another one when a transaction begins and the old one is gone. No context reaches it but
// context.Background: an interrupted statement would take a whole transaction with it.
type conn struct {
	dial    func() (*pgx.Conn, error)
	pg      *pgx.Conn // nil until it is needed
	pending []statement
	begun   bool  // statements of the transaction went well
	failed  error // what ended the transaction; until ROLLBACK nothing goes on

	// For the connection that writes.
	writer      []byte // what it is called in commits
	batch       int64  // the number of its transaction
	unconfirmed int64  // the batch whose COMMIT was sent and not answered
}

type statement struct {
	query string
	args  []any
	one   bool // it must change exactly one row
}

func newWriter(dial func() (*pgx.Conn, error)) *conn {
	id := uuid.New()
	return &conn{dial: dial, writer: id[:]}
}

func newReader(dial func() (*pgx.Conn, error)) *conn { return &conn{dial: dial} }

// Later implements store.Conn.
func (c *conn) Later(query string, args ...any) error {
	if c.failed != nil {
		return c.failed
	}
	c.pending = append(c.pending, statement{query: query, args: args})
	if query == beginUpdate {
		c.batch++
		c.pending = append(c.pending, statement{query: takeTurn})
	}
	return nil
}

// LaterOne implements store.Conn.
func (c *conn) LaterOne(query string, args ...any) error {
	if c.failed != nil {
		return c.failed
	}
	c.pending = append(c.pending, statement{query, args, true})
	return nil
}

// Exec implements store.Conn.
func (c *conn) Exec(query string, args ...any) (int64, error) {
	switch query {
	case "ROLLBACK":
		return 0, c.rollback()
	case "COMMIT":
		return 0, c.commit()
	}
	return c.exec(query, args)
}

func (c *conn) exec(query string, args []any) (int64, error) {
	results, err := c.send(statement{query: query, args: args})
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	if closing := results.Close(); err == nil {
		err = closing
	}
	if err == nil && query == "COMMIT" && tag.String() != "COMMIT" {
		err = errors.New("the database has rolled back instead of committing")
	}
	return tag.RowsAffected(), c.note(err)
}

// Query implements store.Conn.
func (c *conn) Query(query string, args ...any) (store.Rows, error) {
	results, err := c.send(statement{query: query, args: args})
	if err != nil {
		return nil, err
	}
	found, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, c.note(err)
	}
	return &rows{Rows: found, results: results, conn: c}, nil
}

// send sends what is pending and one statement more, whose result is the next to be read. Where that
// begins a transaction, and the connection turns out to be gone, it is sent on another one: nothing has
// happened yet, unless it also was to commit.
func (c *conn) send(last statement) (pgx.BatchResults, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	c.pending = append(c.pending, last)
	all := c.pending
	c.pending = nil
	results, err := c.try(all)
	if err != nil && !c.begun && last.query != "COMMIT" && c.pg != nil && c.pg.IsClosed() {
		results, err = c.try(all)
	}
	if err != nil {
		c.failed = c.passing(err)
		return nil, c.failed
	}
	c.begun = true
	return results, nil
}

func (c *conn) try(all []statement) (pgx.BatchResults, error) {
	if err := c.connected(); err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	for _, s := range all {
		batch.Queue(s.query, s.args...)
	}
	results := c.pg.SendBatch(context.Background(), batch)
	for _, s := range all[:len(all)-1] {
		tag, err := results.Exec()
		if err == nil && s.one && tag.RowsAffected() != 1 {
			err = store.ErrNotOne
		}
		if err != nil {
			_ = results.Close()
			return nil, err
		}
	}
	return results, nil
}

// connected opens a connection unless there is one, or a transaction was open on it.
func (c *conn) connected() (err error) {
	if c.pg != nil && (c.begun || !c.pg.IsClosed()) {
		return nil
	}
	c.pg, err = c.dial()
	return err
}

// note remembers an error after which the transaction cannot go on, not even from a savepoint.
func (c *conn) note(err error) error {
	if err == nil {
		return nil
	}
	passing := c.passing(err)
	if _, passes := errors.AsType[*transient](passing); passes {
		c.failed = passing
	}
	return passing
}

// passing marks an error that need not come again in another transaction.
func (c *conn) passing(err error) error {
	if c.pg != nil && c.pg.IsClosed() || collided(err) {
		return &transient{err}
	}
	return err
}

// rollback ends the transaction, if the server knows of one.
func (c *conn) rollback() (err error) {
	c.pending, c.begun, c.failed = nil, false, nil
	if c.pg != nil && !c.pg.IsClosed() && c.pg.PgConn().TxStatus() != outside {
		_, err = c.pg.PgConn().Exec(context.Background(), "ROLLBACK").ReadAll()
	}
	return err
}

// commit notes the batch with its last statements. If the connection ends before the answer, it is in
// doubt whether it was stored.
func (c *conn) commit() error {
	if !c.begun && c.failed == nil && strings.HasPrefix(c.firstPending(), "BEGIN") && len(c.pending) <= 2 {
		c.pending = nil // nothing was done in it
		return nil
	}
	if err := c.noteCommit(); err != nil {
		return err
	}
	if _, err := c.exec("COMMIT", nil); err != nil {
		if c.pg != nil && c.pg.IsClosed() {
			c.unconfirmed = c.batch
		}
		return err
	}
	c.begun = false
	return nil
}

// noteCommit writes the batch down. Where a row may turn out not to be what it was, that must be known
// before the COMMIT is sent.
func (c *conn) noteCommit() error {
	if !slices.ContainsFunc(c.pending, func(s statement) bool { return s.one }) {
		return c.Later(noteCommit, c.writer, c.batch)
	}
	_, err := c.exec(noteCommit, []any{c.writer, c.batch})
	return err
}

func (c *conn) firstPending() string {
	if len(c.pending) == 0 {
		return ""
	}
	return c.pending[0].query
}

// settle says whether the batch in doubt was stored. It takes the lock to read, which it gets when the
// server has done with the transaction that held it.
func (c *conn) settle() (committed bool, err error) {
	if c.unconfirmed == 0 {
		return false, nil
	}
	defer func() { _ = c.rollback() }() // nothing was written
	if err := c.Later(beginUpdate); err != nil {
		return false, err
	}
	found, err := c.Query("SELECT batch FROM commits WHERE writer = $1", c.writer)
	if err != nil {
		return false, err
	}
	defer found.Close()
	var last int64
	if found.Next() {
		if err := found.Scan(&last); err != nil {
			return false, err
		}
	}
	if err := found.Err(); err != nil {
		return false, err
	}
	committed = last == c.unconfirmed
	c.unconfirmed = 0
	return committed, nil
}

// idle says whether the connection can be lent again.
func (c *conn) idle() bool {
	return !c.begun && c.failed == nil && (c.pg == nil || !c.pg.IsClosed() && c.pg.PgConn().TxStatus() == outside)
}

func (c *conn) close() error {
	if c.pg == nil {
		return nil
	}
	if err := c.pg.Close(context.Background()); err != nil {
		return fmt.Errorf("closing a connection: %w", err)
	}
	return nil
}

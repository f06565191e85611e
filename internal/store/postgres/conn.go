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

	// takeWriteLock takes the lock that lets only one hub at a time run an update. The first number stands for Parley ("Parl"). The
	// second one stands for the schema, so that hubs in other schemas of the same database do not wait.
	takeWriteLock = "SELECT pg_advisory_xact_lock(1348563564, 'counters'::regclass::oid::int4)"

	noTransaction = 'I' // PostgreSQL's status of a connection without a transaction

	insertCommit = `INSERT INTO commits (writer, batch, at)
		VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
		ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at`
)

// conn is a store.Conn that delays statements until the caller needs a result, and then sends all of them in one round trip. It
// opens its connection when it first needs one, and opens a new connection at the start of a transaction if the old one was
// lost. It passes only context.Background to the driver, because an interrupted statement would end the whole transaction.
type conn struct {
	dial    func() (*pgx.Conn, error)
	pg      *pgx.Conn // nil until the first statement is sent
	pending []statement
	begun   bool  // the server has run statements of the transaction
	failed  error // the error that ended the transaction; every call returns it until ROLLBACK

	// Only the connection that writes uses these.
	writer      []byte // its id in the table commits
	batch       int64  // the number of its transaction
	unconfirmed int64  // the batch whose COMMIT was sent and got no answer; 0: there is none
}

type statement struct {
	query  string
	args   []any
	oneRow bool // the statement must change exactly one row
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
		c.pending = append(c.pending, statement{query: takeWriteLock})
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
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err == nil && query == "COMMIT" && tag.String() != "COMMIT" {
		err = errors.New("the database has rolled back instead of committing")
	}
	return tag.RowsAffected(), c.recordError(err)
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
		return nil, c.recordError(err)
	}
	return &rows{Rows: found, results: results, conn: c}, nil
}

// send sends the pending statements and a last one, and returns the results, of which that of the last statement is still
// unread. If the statements begin a transaction and the connection proves to be lost, send repeats them on a new connection:
// nothing has taken effect yet. It does not repeat a COMMIT.
func (c *conn) send(last statement) (pgx.BatchResults, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	c.pending = append(c.pending, last)
	all := c.pending
	c.pending = nil
	results, err := c.sendAll(all)
	if err != nil && !c.begun && last.query != "COMMIT" && c.pg != nil && c.pg.IsClosed() {
		results, err = c.sendAll(all)
	}
	if err != nil {
		c.failed = c.markTransient(err)
		return nil, c.failed
	}
	c.begun = true
	return results, nil
}

func (c *conn) sendAll(all []statement) (pgx.BatchResults, error) {
	if err := c.ensureConnected(); err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	for _, s := range all {
		batch.Queue(s.query, s.args...)
	}
	results := c.pg.SendBatch(context.Background(), batch)
	for _, s := range all[:len(all)-1] {
		tag, err := results.Exec()
		if err == nil && s.oneRow && tag.RowsAffected() != 1 {
			err = store.ErrNotOne
		}
		if err != nil {
			_ = results.Close()
			return nil, err
		}
	}
	return results, nil
}

// ensureConnected opens a connection if there is none, or if it was lost outside of a transaction.
func (c *conn) ensureConnected() (err error) {
	if c.pg != nil && (c.begun || !c.pg.IsClosed()) {
		return nil
	}
	c.pg, err = c.dial()
	return err
}

// recordError returns an error of a statement, marked as transient if it is. It keeps a transient error, because the transaction
// cannot go on after it, not even from a savepoint.
func (c *conn) recordError(err error) error {
	if err == nil {
		return nil
	}
	marked := c.markTransient(err)
	if _, isTransient := errors.AsType[*transient](marked); isTransient {
		c.failed = marked
	}
	return marked
}

// markTransient wraps an error that may not occur again in another transaction.
func (c *conn) markTransient(err error) error {
	if c.pg != nil && c.pg.IsClosed() || isConflict(err) {
		return &transient{err}
	}
	return err
}

// rollback ends the transaction, if the server has begun it.
func (c *conn) rollback() (err error) {
	c.pending, c.begun, c.failed = nil, false, nil
	if c.pg != nil && !c.pg.IsClosed() && c.pg.PgConn().TxStatus() != noTransaction {
		_, err = c.pg.PgConn().Exec(context.Background(), "ROLLBACK").ReadAll()
	}
	return err
}

// commit records the batch with the last statements of the transaction, and commits. If the connection is lost before the server
// answers, settle must find out whether the batch was stored.
func (c *conn) commit() error {
	if !c.begun && c.failed == nil && strings.HasPrefix(c.firstPending(), "BEGIN") && len(c.pending) <= 2 {
		c.pending = nil // the transaction did nothing
		return nil
	}
	if err := c.recordCommit(); err != nil {
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

// recordCommit writes the number of the batch into the table commits. If a pending statement must change exactly one row, it
// sends the statements now, because their results decide whether the COMMIT may be sent.
func (c *conn) recordCommit() error {
	if !slices.ContainsFunc(c.pending, func(s statement) bool { return s.oneRow }) {
		return c.Later(insertCommit, c.writer, c.batch)
	}
	_, err := c.exec(insertCommit, []any{c.writer, c.batch})
	return err
}

func (c *conn) firstPending() string {
	if len(c.pending) == 0 {
		return ""
	}
	return c.pending[0].query
}

// settle reports whether the unconfirmed batch was stored. Before it reads, it takes the write lock, which it gets only when the
// server has ended the transaction of that batch.
func (c *conn) settle() (committed bool, err error) {
	if c.unconfirmed == 0 {
		return false, nil
	}
	defer func() { _ = c.rollback() }() // settle writes nothing
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

// idle reports whether the pool can lend the connection again.
func (c *conn) idle() bool {
	return !c.begun && c.failed == nil && (c.pg == nil || !c.pg.IsClosed() && c.pg.PgConn().TxStatus() == noTransaction)
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

package sqlite

import (
	"context"
	"database/sql"

	"github.com/parley-hub/parley/internal/store"
)

// conn is a store.Conn that prepares each statement once. It never passes a context on: a
// cancelled one would interrupt the statement, and with it a whole transaction.
type conn struct {
	sql        *sql.Conn
	statements map[string]*sql.Stmt
}

// maxStatements bounds what a connection keeps prepared. The store has far fewer statements.
const maxStatements = 256

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{sql: c, statements: map[string]*sql.Stmt{}}, nil
}

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := c.statements[query]; ok {
		return stmt, nil
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	stmt, err := c.sql.PrepareContext(context.Background(), query)
	if err == nil {
		c.statements[query] = stmt
	}
	return stmt, err
}

func (c *conn) Exec(query string, args ...any) (int64, error) {
	stmt, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *conn) Query(query string, args ...any) (store.Rows, error) {
	stmt, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	result, err := stmt.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, err
	}
	return rows{result}, nil
}

func (c *conn) forget() {
	for query, stmt := range c.statements {
		_ = stmt.Close()
		delete(c.statements, query)
	}
}

func (c *conn) close() error {
	c.forget()
	return c.sql.Close()
}

type rows struct{ *sql.Rows }

func (r rows) Close() { _ = r.Rows.Close() }

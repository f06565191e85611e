package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/parley-hub/parley/internal/store"
)

// conn is a store.Conn that prepares each statement once. The store never interrupts a statement, because SQLite would roll the
// whole transaction back.
type conn struct {
	sqlite     *sqlite.Conn
	statements map[string]*sqlite.Stmt
	rows       rows         // the one result that can be open
	meter      *store.Meter // counts the statements; nil: they are not counted
}

// busyTimeout is how long a connection waits for another program that has locked the file.
const busyTimeout = 10 * time.Second

// maxStatements is how many prepared statements a connection keeps at most. The store has far fewer statements.
const maxStatements = 256

// pragmas are the settings of every connection. synchronous=FULL makes a commit wait for the disk. macOS also needs fullfsync,
// because its plain fsync does not wait.
var pragmas = []string{
	fmt.Sprintf("busy_timeout=%d", busyTimeout.Milliseconds()), "journal_mode=WAL", "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1",
	"foreign_keys=1", "temp_store=memory", "trusted_schema=0", "cell_size_check=1",
}

func newConn(path string, more ...string) (*conn, error) {
	opened, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	c := &conn{sqlite: opened, statements: map[string]*sqlite.Stmt{}}
	for _, pragma := range append(pragmas, more...) {
		if _, err := c.Exec("PRAGMA " + pragma); err != nil {
			_ = c.close()
			return nil, err
		}
	}
	return c, nil
}

func (c *conn) Exec(query string, args ...any) (int64, error) {
	stmt, err := c.bind(query, args)
	if err != nil {
		return 0, err
	}
	for {
		more, err := stmt.Step()
		if err != nil {
			_ = stmt.Reset()
			return 0, err
		}
		if !more {
			c.countStatement(query)
			return int64(c.sqlite.Changes()), nil
		}
	}
}

// countStatement tells the meter of a statement that has ended.
func (c *conn) countStatement(query string) {
	if c.meter != nil {
		c.meter.Statement(query, int64(c.sqlite.Changes()))
	}
}

// Later implements store.Conn. It runs the statement at once: SQLite runs in this process, so there is no round trip to save.
func (c *conn) Later(query string, args ...any) error {
	_, err := c.Exec(query, args...)
	return err
}

// LaterOne implements store.Conn.
func (c *conn) LaterOne(query string, args ...any) error {
	n, err := c.Exec(query, args...)
	if err == nil && n != 1 {
		err = store.ErrNotOne
	}
	return err
}

func (c *conn) Query(query string, args ...any) (store.Rows, error) {
	stmt, err := c.bind(query, args)
	if err != nil {
		return nil, err
	}
	c.rows = rows{stmt: stmt, conn: c, query: query}
	return &c.rows, nil
}

func (c *conn) bind(query string, args []any) (*sqlite.Stmt, error) {
	stmt, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	if err := stmt.Reset(); err != nil {
		return nil, err
	}
	if n := stmt.BindParamCount(); n != len(args) {
		return nil, fmt.Errorf("a statement takes %d arguments and was given %d: %s", n, len(args), query)
	}
	for i, arg := range args {
		if err := bindArg(stmt, i+1, arg); err != nil {
			return nil, err
		}
	}
	return stmt, nil
}

func bindArg(stmt *sqlite.Stmt, at int, arg any) error {
	switch arg := arg.(type) {
	case nil:
		stmt.BindNull(at)
	case int64:
		stmt.BindInt64(at, arg)
	case int:
		stmt.BindInt64(at, int64(arg))
	case string:
		stmt.BindText(at, arg)
	case []byte:
		stmt.BindBytes(at, arg)
	case sql.NullInt64:
		if !arg.Valid {
			stmt.BindNull(at)
		} else {
			stmt.BindInt64(at, arg.Int64)
		}
	case sql.NullString:
		if !arg.Valid {
			stmt.BindNull(at)
		} else {
			stmt.BindText(at, arg.String)
		}
	default:
		return fmt.Errorf("argument %d has the type %T", at, arg)
	}
	return nil
}

func (c *conn) prepare(query string) (*sqlite.Stmt, error) {
	if stmt, ok := c.statements[query]; ok {
		return stmt, nil
	}
	if len(c.statements) >= maxStatements {
		c.finalizeStatements()
	}
	// SQLite treats $2 as a parameter name and numbers it by its position in the text. ?2 is always the second argument.
	stmt, trailing, err := c.sqlite.PrepareTransient(strings.ReplaceAll(query, "$", "?"))
	if err == nil && trailing > 0 {
		_ = stmt.Finalize()
		return nil, fmt.Errorf("more than one statement: %s", query)
	}
	if err == nil {
		c.statements[query] = stmt
	}
	return stmt, err
}

func (c *conn) finalizeStatements() {
	for query, stmt := range c.statements {
		_ = stmt.Finalize()
		delete(c.statements, query)
	}
}

func (c *conn) close() error {
	c.finalizeStatements()
	return c.sqlite.Close()
}

// rows is the open result of a statement.
type rows struct {
	stmt  *sqlite.Stmt
	conn  *conn
	query string
	err   error
}

func (r *rows) Next() bool {
	more, err := r.stmt.Step()
	r.err = err
	return more && err == nil
}

func (r *rows) Err() error { return r.err }

func (r *rows) Close() {
	_ = r.stmt.Reset()
	r.conn.countStatement(r.query)
}

func (r *rows) Scan(dest ...any) error {
	if n := r.stmt.ColumnCount(); n != len(dest) {
		return fmt.Errorf("a row has %d columns and was scanned into %d", n, len(dest))
	}
	for i, d := range dest {
		null := r.stmt.ColumnIsNull(i)
		switch d := d.(type) {
		case *int64:
			*d = r.stmt.ColumnInt64(i)
		case *int:
			*d = int(r.stmt.ColumnInt64(i))
		case *string:
			*d = r.stmt.ColumnText(i)
		case *[]byte:
			*d = nil
			if !null {
				*d = make([]byte, r.stmt.ColumnLen(i))
				r.stmt.ColumnBytes(i, *d)
			}
			continue
		case *sql.NullInt64:
			*d = sql.NullInt64{}
			if !null {
				*d = sql.NullInt64{Int64: r.stmt.ColumnInt64(i), Valid: true}
			}
			continue
		case *sql.NullString:
			*d = sql.NullString{}
			if !null {
				*d = sql.NullString{String: r.stmt.ColumnText(i), Valid: true}
			}
			continue
		default:
			return fmt.Errorf("column %d is scanned into a %T", i, d)
		}
		if null {
			return fmt.Errorf("column %s is NULL", r.stmt.ColumnName(i))
		}
	}
	return nil
}

package committest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/parley-hub/parley"
)

var (
	// ErrInjected is the error of a statement that Fail or End makes fail.
	ErrInjected = errors.New("injected")
	// ErrTransient is the error of a statement that may succeed in another transaction.
	ErrTransient = errors.New("injected, and it is transient")
)

// Conn is a connection to SQLite that logs its statements and can make them fail. One goroutine uses it at a time.
type Conn struct {
	SQL *sql.Conn
	// Before is called before each statement. If it returns an error, the statement does not run.
	Before Hook

	mu  sync.Mutex
	log []Executed
}

// Executed is a statement that changes rows or controls a transaction, with its error.
type Executed struct {
	Query string
	Err   error
}

// Open opens a file as the hub does and returns the pool of its connections.
func Open(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)")
}

// NewConn takes one connection of a pool.
func NewConn(db *sql.DB) (*Conn, error) {
	c, err := db.Conn(context.Background())
	return &Conn{SQL: c}, err
}

// Exec runs a statement, unless Before refuses it, and returns how many rows it changed.
func (c *Conn) Exec(query string, args ...any) (int64, error) {
	n, err := c.exec(query, args)
	c.mu.Lock()
	c.log = append(c.log, Executed{query, err})
	c.mu.Unlock()
	return n, err
}

// Later is Exec without the number of rows.
func (c *Conn) Later(query string, args ...any) error {
	_, err := c.Exec(query, args...)
	return err
}

func (c *Conn) exec(query string, args []any) (int64, error) {
	if err := c.ask(query); err != nil {
		return 0, err
	}
	result, err := c.SQL.ExecContext(context.Background(), numbered(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query runs a statement that returns rows, unless Before refuses it.
func (c *Conn) Query(query string, args ...any) (*sql.Rows, error) {
	if err := c.ask(query); err != nil {
		return nil, err
	}
	return c.SQL.QueryContext(context.Background(), numbered(query), args...)
}

func (c *Conn) ask(query string) error {
	if c.Before == nil {
		return nil
	}
	return c.Before(c, query)
}

func numbered(query string) string { return strings.ReplaceAll(query, "$", "?") }

// Raw runs a statement that is not logged and cannot be made to fail.
func (c *Conn) Raw(query string) error {
	_, err := c.SQL.ExecContext(context.Background(), query)
	return err
}

// Log returns the statements so far.
func (c *Conn) Log() []Executed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

// Errors returns the errors of the statements that begin with a prefix, nil for each that succeeded.
func (c *Conn) Errors(prefix string) (errs []error) {
	for _, e := range c.Log() {
		if strings.HasPrefix(e.Query, prefix) {
			errs = append(errs, e.Err)
		}
	}
	return errs
}

// Succeeded counts the statements that begin with a prefix and succeeded.
func (c *Conn) Succeeded(prefix string) int {
	return len(slices.DeleteFunc(c.Errors(prefix), func(err error) bool { return err != nil }))
}

// Batches returns for each transaction how many statements with a prefix it had.
func (c *Conn) Batches(prefix string) (sizes []int) {
	for _, e := range c.Log() {
		switch {
		case strings.HasPrefix(e.Query, "BEGIN") && e.Err == nil:
			sizes = append(sizes, 0)
		case strings.HasPrefix(e.Query, prefix):
			sizes[len(sizes)-1]++
		}
	}
	return sizes
}

// LimitPages lets the database grow by so many pages. No update may run meanwhile.
func (c *Conn) LimitPages(more int) error {
	var pages int
	if err := c.SQL.QueryRowContext(context.Background(), "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	return c.Raw(fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
}

// Hook is a function for Conn.Before.
type Hook = func(c *Conn, query string) error

// Fail makes the next statements that begin with a prefix fail with ErrInjected. A negative number of times means always.
func Fail(prefix string, times int) Hook { return failHook(prefix, times, false) }

// End is Fail for statements that end the transaction when they fail, as they do when the disk is full.
func End(prefix string, times int) Hook { return failHook(prefix, times, true) }

func failHook(prefix string, times int, ends bool) Hook {
	return func(c *Conn, query string) error {
		if times == 0 || !strings.HasPrefix(query, prefix) {
			return nil
		}
		times--
		if ends {
			if err := c.Raw("ROLLBACK"); err != nil {
				return fmt.Errorf("%w, and no transaction was open: %w", ErrInjected, err)
			}
		}
		return ErrInjected
	}
}

// LostConnection makes the next statements that begin with a prefix fail with ErrTransient and end the transaction, as a lost
// connection does.
func LostConnection(prefix string, times int) Hook {
	return func(c *Conn, query string) error {
		if times == 0 || !strings.HasPrefix(query, prefix) {
			return nil
		}
		times--
		_ = c.Raw("ROLLBACK")
		return ErrTransient
	}
}

// Explain returns the *parley.Error for an error of the database, and nil for nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*sqlite.Error](err); ok && failure.Code()&0xff == sqlite3.SQLITE_FULL {
		return parley.Errorf(parley.Unavailable, "the disk is full: %w", err).Because(parley.StorageFull)
	}
	return parley.Errorf(parley.Internal, "the database failed: %w", err)
}

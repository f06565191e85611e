package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/parley-hub/parley"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testDriver is a Driver on a real SQLite file whose writing connection can be made to fail.
type testDriver struct {
	path      string
	db        *sql.DB
	writer    *testConn
	readers   chan *testConn
	all       []*testConn // all readers, lent or not
	committed []int64
	settle    func() (committed bool, err error) // instead of overwriting
}

// testConn writes down what the writer does with it. Only the writer uses it while a store runs.
type testConn struct {
	sql *sql.Conn
	// before is asked before each statement; if it returns an error, the statement is not run.
	before func(c *testConn, query string) error

	mu  sync.Mutex
	log []executed
}

type executed struct {
	query string
	err   error
}

func openDriver(t *testing.T, path string) *testDriver {
	t.Helper()
	d := &testDriver{path: path, readers: make(chan *testConn, 2)}
	var err error
	d.db, err = sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)")
	if err != nil {
		t.Fatal(err)
	}
	d.writer = d.conn(t)
	for range cap(d.readers) {
		c := d.conn(t)
		d.all = append(d.all, c)
		d.readers <- c
	}
	return d
}

func (d *testDriver) conn(t *testing.T) *testConn {
	t.Helper()
	c, err := d.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return &testConn{sql: c}
}

// createSchema makes the tables as the migrations do.
func (d *testDriver) createSchema(t *testing.T) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join("sqlite", "migrations", "*.sql"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(err, scripts)
	}
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.db.Exec(string(script)); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *testDriver) Writer() Conn { return d.writer }

func (d *testDriver) Reader(ctx context.Context) (Conn, error) {
	select {
	case c := <-d.readers:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *testDriver) GiveBack(c Conn) { d.readers <- c.(*testConn) }

func (d *testDriver) Begin() string { return "BEGIN IMMEDIATE" }

func (d *testDriver) BeginView() string { return "BEGIN" }

func (d *testDriver) Locks() Locks { return Locks{} }

func (d *testDriver) LeaseNow(Conn) (int64, error) { return time.Now().UnixMilli(), nil }

func (d *testDriver) Explain(err error) error {
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*sqlite.Error](err); ok && failure.Code()&0xff == sqlite3.SQLITE_FULL {
		return parley.Errorf(parley.Unavailable, "the disk is full: %w", err).Because(parley.StorageFull)
	}
	return parley.Errorf(parley.Internal, "the database failed: %w", err)
}

func (d *testDriver) Transient(err error) bool { return errors.Is(err, errPasses) }

func (d *testDriver) Settle() (bool, error) {
	if d.settle != nil {
		return d.settle()
	}
	return false, Overwrite(d.writer, d.Begin())
}

func (d *testDriver) Text() TextIndex { return FTS5{} }

func (d *testDriver) Committed(seq int64) { d.committed = append(d.committed, seq) }

func (d *testDriver) Close() error {
	errs := []error{d.writer.sql.Close()}
	for _, c := range d.all { // lent or not: it is for the store to wait
		errs = append(errs, c.sql.Close())
	}
	return errors.Join(append(errs, d.db.Close())...)
}

func (c *testConn) Exec(query string, args ...any) (int64, error) {
	n, err := c.exec(query, args)
	c.mu.Lock()
	c.log = append(c.log, executed{query, err})
	c.mu.Unlock()
	return n, err
}

func (c *testConn) Later(query string, args ...any) error {
	_, err := c.Exec(query, args...)
	return err
}

func (c *testConn) LaterOne(query string, args ...any) error {
	n, err := c.Exec(query, args...)
	if err == nil && n != 1 {
		err = ErrNotOne
	}
	return err
}

func (c *testConn) exec(query string, args []any) (int64, error) {
	if err := c.ask(query); err != nil {
		return 0, err
	}
	result, err := c.sql.ExecContext(context.Background(), numbered(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *testConn) Query(query string, args ...any) (Rows, error) {
	if err := c.ask(query); err != nil {
		return nil, err
	}
	found, err := c.sql.QueryContext(context.Background(), numbered(query), args...)
	return testRows{found}, err
}

func (c *testConn) ask(query string) error {
	if c.before == nil {
		return nil
	}
	return c.before(c, query)
}

func numbered(query string) string { return strings.ReplaceAll(query, "$", "?") }

type testRows struct{ *sql.Rows }

func (r testRows) Close() { _ = r.Rows.Close() }

// raw runs a statement that is not written down and cannot be made to fail.
func (c *testConn) raw(query string) error {
	_, err := c.sql.ExecContext(context.Background(), query)
	return err
}

// ran are the statements that begin with a word and were run, with their errors.
func (c *testConn) ran(prefix string) (errs []error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.log {
		if strings.HasPrefix(e.query, prefix) {
			errs = append(errs, e.err)
		}
	}
	return errs
}

// succeeded counts the statements that begin with a word and went well.
func (c *testConn) succeeded(prefix string) int {
	return len(slices.DeleteFunc(c.ran(prefix), func(err error) bool { return err != nil }))
}

// batches are the numbers of updates in each transaction: each begins by storing its label.
func (c *testConn) batches() (sizes []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.log {
		switch {
		case strings.HasPrefix(e.query, "BEGIN") && e.err == nil:
			sizes = append(sizes, 0)
		case strings.HasPrefix(e.query, "INSERT INTO events"):
			sizes[len(sizes)-1]++
		}
	}
	return sizes
}

var (
	errInjected = errors.New("injected")
	errPasses   = errors.New("injected, and it passes")
)

// failure makes the next statements that begin with a word fail. If gone, the transaction ends
// with them, as it does when the disk is full.
type failure struct {
	prefix string
	times  int
	gone   bool
}

func (f failure) hook() func(*testConn, string) error {
	return func(c *testConn, query string) error {
		if f.times == 0 || !strings.HasPrefix(query, f.prefix) {
			return nil
		}
		f.times--
		if f.gone {
			if err := c.raw("ROLLBACK"); err != nil {
				return fmt.Errorf("%w, and no transaction was open: %w", errInjected, err)
			}
		}
		return errInjected
	}
}

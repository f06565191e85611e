package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testDriver is a Driver on a real SQLite file whose writing connection can be made to fail.
type testDriver struct {
	path      string
	db        *sql.DB
	writer    *committest.Conn
	readers   chan testConn
	all       []testConn // all readers, lent or not
	committed []int64
}

// testConn is a Conn that tests can make fail.
type testConn struct{ *committest.Conn }

func openDriver(t *testing.T, path string) *testDriver {
	t.Helper()
	d := &testDriver{path: path, readers: make(chan testConn, 2)}
	var err error
	if d.db, err = committest.Open(path); err != nil {
		t.Fatal(err)
	}
	d.writer = d.conn(t).Conn
	for range cap(d.readers) {
		c := d.conn(t)
		d.all = append(d.all, c)
		d.readers <- c
	}
	return d
}

func (d *testDriver) conn(t *testing.T) testConn {
	t.Helper()
	c, err := committest.NewConn(d.db)
	if err != nil {
		t.Fatal(err)
	}
	return testConn{c}
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

func (d *testDriver) Writer() Conn { return testConn{d.writer} }

func (d *testDriver) Reader(ctx context.Context) (Conn, error) {
	select {
	case c := <-d.readers:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *testDriver) GiveBack(c Conn) { d.readers <- c.(testConn) }

func (d *testDriver) Begin() string { return "BEGIN IMMEDIATE" }

func (d *testDriver) BeginView() string { return "BEGIN" }

func (d *testDriver) Locks() Locks { return Locks{} }

func (d *testDriver) LeaseNow(Conn) (int64, error) { return time.Now().UnixMilli(), nil }

func (d *testDriver) Explain(err error) error { return committest.Explain(err) }

func (d *testDriver) Transient(err error) bool { return errors.Is(err, committest.ErrTransient) }

func (d *testDriver) Settle() (bool, error) { return false, Overwrite(testConn{d.writer}, d.Begin()) }

func (d *testDriver) Text() TextIndex { return FTS5{} }

func (d *testDriver) Committed(seq int64) { d.committed = append(d.committed, seq) }

func (d *testDriver) Close() error {
	errs := []error{d.writer.SQL.Close()}
	for _, c := range d.all { // lent or not: the store must have waited
		errs = append(errs, c.SQL.Close())
	}
	return errors.Join(append(errs, d.db.Close())...)
}

func (c testConn) LaterOne(query string, args ...any) error {
	n, err := c.Exec(query, args...)
	if err == nil && n != 1 {
		err = ErrNotOne
	}
	return err
}

func (c testConn) Query(query string, args ...any) (Rows, error) {
	found, err := c.Conn.Query(query, args...)
	if err != nil {
		return nil, err
	}
	return testRows{found}, nil
}

type testRows struct{ *sql.Rows }

func (r testRows) Close() { _ = r.Rows.Close() }

package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schema = `
	CREATE TABLE labels (label TEXT NOT NULL);
	CREATE TABLE names (name TEXT PRIMARY KEY, data BLOB);
	CREATE TABLE repairs (number INTEGER NOT NULL);
	INSERT INTO repairs (number) VALUES (0)`

// database is a SQLite file with the transaction of its writing connection.
type database struct {
	path    string
	conn    *committest.Conn
	settle  func() (committed bool, err error) // replaces the repair that Settle makes
	commits int
	close   func() error
}

func openDatabase(t *testing.T) *database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := committest.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := committest.NewConn(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Raw(schema); err != nil {
		t.Fatal(err)
	}
	return &database{path: path, conn: conn, close: func() error { return errors.Join(conn.SQL.Close(), db.Close()) }}
}

func (d *database) Begin() string { return "BEGIN IMMEDIATE" }

func (d *database) Explain(err error) error { return committest.Explain(err) }

func (d *database) Transient(err error) bool { return errors.Is(err, committest.ErrTransient) }

func (d *database) Settle() (bool, error) {
	if d.settle != nil {
		return d.settle()
	}
	for _, statement := range []string{d.Begin(), "UPDATE repairs SET number = number + 1", "COMMIT"} {
		if _, err := d.conn.Exec(statement); err != nil {
			_, _ = d.conn.Exec("ROLLBACK")
			return false, err
		}
	}
	return false, nil
}

// tx is what updates get. After a statement that failed it runs no other.
type tx struct {
	conn   *committest.Conn
	broken error
}

func (t *tx) write(query string, args ...any) error {
	if t.broken == nil {
		t.broken = committest.Explain(t.conn.Later(query, args...))
	}
	return t.broken
}

// label stores the label of an update.
func (t *tx) label(label string) error {
	return t.write("INSERT INTO labels (label) VALUES ($1)", label)
}

// add stores a name. ErrTaken if it is stored already.
func (t *tx) add(name string) error {
	if t.broken != nil {
		return t.broken
	}
	n, err := t.conn.Exec("INSERT INTO names (name) VALUES ($1) ON CONFLICT DO NOTHING", name)
	if err != nil {
		t.broken = committest.Explain(err)
	} else if n == 0 {
		err = parley.ErrTaken
	}
	return errors.Join(t.broken, err)
}

// testSession implements Session.
type testSession struct {
	tx       *tx
	database *database
}

func (s testSession) Run(fn func(*tx) error) (err, broken error) {
	s.tx.broken = nil
	defer func() {
		if p := recover(); p != nil {
			err, broken = fmt.Errorf("a panic: %v", p), s.tx.broken
		}
	}()
	if err = fn(s.tx); err == nil {
		err = s.tx.broken
	}
	return err, s.tx.broken
}

func (testSession) Save() {}

func (testSession) Restore() {}

func (testSession) Forget() {}

func (testSession) Flush() error { return nil }

func (s testSession) Committed() { s.database.commits++ }

// fixture is a writer on a database, with the updates that were handed to it.
type fixture struct {
	*committest.Fixture[*tx]
	database *database
	writer   *Writer[*tx]
	closed   bool
}

func newWriter(d *database) *Writer[*tx] {
	return New[*tx](d.conn, d, testSession{&tx{conn: d.conn}, d})
}

// withWriter runs a test in a bubble and requires at its end that exactly the acknowledged updates are stored.
func withWriter(t *testing.T, act func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := openDatabase(t)
		w := newWriter(d)
		f := &fixture{database: d, writer: w, Fixture: committest.New(t, d.conn, committest.Target[*tx]{
			Update: w.Update, Write: (*tx).label, Writes: "INSERT INTO labels",
		})}
		defer f.close() // also if act fails
		act(f)
		f.WG.Wait()
		f.close()
		stored, err := storedLabels(d.path)
		if err != nil {
			t.Fatal(err)
		}
		f.Verify(stored)
	})
}

func (f *fixture) close() {
	if f.closed {
		return
	}
	f.closed = true
	f.writer.Close()
	if err := f.database.close(); err != nil {
		f.Errorf("closing: %v", err)
	}
}

func storedLabels(path string) (labels []string, err error) {
	db, err := committest.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(context.Background(), "SELECT label FROM labels")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var label string
		if err := rows.Scan(&label); err != nil {
			return nil, err
		}
		labels = append(labels, label)
	}
	return labels, rows.Err()
}

// hides returns an update that hides the error of call.
func hides(call func(*tx) error) func(*tx) error {
	return func(t *tx) error {
		_ = call(t)
		return nil
	}
}

package postgres

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/pgtest"
)

// scratch is a connection like the store's that writes, to a database of the test's own.
func scratch(t *testing.T, address string) *conn {
	t.Helper()
	d, err := newDialer(address)
	if err != nil {
		t.Fatal(err)
	}
	c := newWriter(d.writer)
	t.Cleanup(func() { _ = c.close() })
	return c
}

// does runs statements that must go well; one that begins with a comma is run later.
func does(t *testing.T, c *conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		var err error
		if later, ok := strings.CutPrefix(statement, ","); ok {
			err = c.Later(later)
		} else {
			_, err = c.Exec(statement)
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// fails runs statements that must fail, all for a reason with this word.
func fails(t *testing.T, c *conn, word string, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := c.Exec(statement); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: told %v, want something about %s", statement, err, word)
		}
	}
}

func events(t *testing.T, c *conn) (n int64) {
	t.Helper()
	found, err := c.Query("SELECT count(*) FROM events")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		if err := found.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := found.Err(); err != nil {
		t.Error(err)
	}
	return n
}

const (
	begin   = "," + beginUpdate
	insert  = "INSERT INTO events (num, at, kind) VALUES (1, 0, 'x')"
	another = "INSERT INTO events (num, at, kind) VALUES (2, 0, 'x')"
	wrong   = "INSERT INTO events (num) VALUES (3)"
)

func TestStatementsForLaterAreSentInTheirOrder(t *testing.T) {
	c := scratch(t, migrated.Copy(t))
	does(t, c, begin, ","+insert, ",SAVEPOINT one", ","+another)
	if n := events(t, c); n != 2 {
		t.Errorf("%d events are seen, want 2", n)
	}
	does(t, c, "ROLLBACK TO SAVEPOINT one", ",RELEASE SAVEPOINT one", "COMMIT")
	if n := events(t, c); n != 1 {
		t.Errorf("%d events are stored, want 1", n)
	}
}

// What fails late has failed in an update before: a rollback to a savepoint would not undo that one.
func TestFailureOfAStatementForLaterEndsTheTransaction(t *testing.T) {
	c := scratch(t, migrated.Copy(t))
	does(t, c, begin, ","+insert, ",SAVEPOINT one", ","+wrong, ",RELEASE SAVEPOINT one", ",SAVEPOINT one")
	fails(t, c, "null value", another, "ROLLBACK TO SAVEPOINT one", another, "COMMIT")
	does(t, c, "ROLLBACK", begin, another, "COMMIT")
	if n := events(t, c); n != 1 {
		t.Errorf("%d events are stored, want 1", n)
	}
}

func TestFailureOfAStatementIsUndoneToItsSavepoint(t *testing.T) {
	c := scratch(t, migrated.Copy(t))
	does(t, c, begin, ","+insert, ",SAVEPOINT one")
	fails(t, c, "null value", wrong)
	fails(t, c, "aborted", another)
	does(t, c, "ROLLBACK TO SAVEPOINT one", ",RELEASE SAVEPOINT one", "COMMIT")
	if n := events(t, c); n != 1 {
		t.Errorf("%d events are stored, want 1", n)
	}
}

func TestCommitOfAnAbortedTransactionFails(t *testing.T) {
	c := scratch(t, migrated.Copy(t))
	does(t, c, begin, insert)
	fails(t, c, "null value", wrong)
	fails(t, c, "aborted", "COMMIT")
	if committed, err := c.settle(); committed || err != nil {
		t.Errorf("settled as %t, %v", committed, err)
	}
	does(t, c, "ROLLBACK")
	if n := events(t, c); n != 0 {
		t.Errorf("%d events are stored", n)
	}
}

func TestTransactionWithoutStatementsNeedsNoServer(t *testing.T) {
	c := scratch(t, "postgres://nobody@127.0.0.1:1/nothing")
	does(t, c, begin, "COMMIT", begin, "ROLLBACK", "ROLLBACK", begin, "COMMIT")
}

// A transaction that is sent as a whole is not sent again when its answer is lost.
func TestWholeTransactionWhoseAnswerIsLost(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{TCP: true})
	closed(t, opened(t, server.URL("postgres")))
	through := newProxy(t, server.Addr(), every(1, saysCommitted))
	c := scratch(t, "postgres://parley@"+through.listener.Addr().String()+"/postgres")
	does(t, c, begin, ",UPDATE counters SET seq = seq + 1")
	if _, err := c.Exec("COMMIT"); err == nil {
		t.Fatal("no error")
	}
	does(t, c, "ROLLBACK")
	if committed, err := c.settle(); !committed || err != nil {
		t.Errorf("settled as %t, %v", committed, err)
	}
	found, err := c.Query("SELECT seq FROM counters")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var seq int64
	if !found.Next() || found.Scan(&seq) != nil || seq != 1 {
		t.Errorf("it was carried out %d times", seq)
	}
}

func TestScanTakesEveryTypeThatTheStoreScans(t *testing.T) {
	c := scratch(t, migrated.Copy(t))
	found, err := c.Query(`SELECT 1::int2, -2::int4, 3::int8, 'words', '\x0001'::bytea, ''::bytea, NULL, NULL, NULL, 4::int8`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var (
		small, large, big  int64
		n                  int
		text               string
		raw, empty, absent []byte
		noText             sql.NullString
		noInt, anInt       sql.NullInt64
	)
	if !found.Next() {
		t.Fatal(found.Err())
	}
	if err := found.Scan(&small, &n, &big, &text, &raw, &empty, &absent, &noText, &noInt, &anInt); err != nil {
		t.Fatal(err)
	}
	if small != 1 || n != -2 || big != 3 || text != "words" || string(raw) != "\x00\x01" || empty == nil || absent != nil ||
		noText.Valid || noInt.Valid || anInt != (sql.NullInt64{Int64: 4, Valid: true}) {
		t.Error(small, n, big, text, raw, empty, absent, noText, noInt, anInt)
	}
	for _, wrong := range [][]any{
		{&large},
		{&small, &n, &big, &text, &raw, &empty, &text, &noText, &noInt, &anInt},
		{&small, &n, &big, &large, &raw, &empty, &absent, &noText, &noInt, &anInt},
		{&small, &n, &big, new(bool), &raw, &empty, &absent, &noText, &noInt, &anInt},
	} {
		if found.Scan(wrong...) == nil {
			t.Errorf("scanned into %T", wrong)
		}
	}
}

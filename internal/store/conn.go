package store

import (
	"context"
	"fmt"

	"github.com/parley-hub/parley"
)

// ErrNotOne says that a row was not there, or not as it was said to be. It is parley.ErrNotFound.
var ErrNotOne = fmt.Errorf("a row is not what it was: %w", parley.ErrNotFound)

// Conn is one connection, used by one goroutine at a time. It keeps its statements prepared.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed. A COMMIT that did not commit is an
	// error.
	Exec(query string, args ...any) (int64, error)
	// Later runs a statement of which nobody wants to know more than whether it went well. It may be
	// sent together with the statement that follows, which then fails in its place; after such a
	// failure everything fails until ROLLBACK.
	Later(query string, args ...any) error
	// LaterOne is Later for a statement that changes exactly one row. If it does not, that is
	// ErrNotOne, after which everything fails until ROLLBACK.
	LaterOne(query string, args ...any) error
	// Query runs a statement that returns rows. They must be closed before the next call.
	Query(query string, args ...any) (Rows, error)
}

// Rows is the result of a query.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Driver opens and knows one database.
type Driver interface {
	// Writer is the connection that writes. There is one.
	Writer() Conn
	// Reader lends a connection for one snapshot, until it is given back. Returns the error of ctx
	// if it is done before one is free.
	Reader(ctx context.Context) (Conn, error)
	GiveBack(Conn)
	// Begin is the statement that begins a writing transaction, BeginView the one for a snapshot.
	Begin() string
	BeginView() string
	// Locks are what a query ends with to keep its rows from others until the end of the transaction.
	Locks() Locks
	// LeaseNow is the moment on the lease clock: milliseconds that rise whatever happens to the wall
	// clock. Where leases end with the process it begins after every moment it has given before.
	LeaseNow(Conn) (int64, error)
	// Explain turns an error of the database into an *Error with a sentence and a hint, and nil into
	// nil.
	Explain(error) error
	// Transient says whether a transaction that ended with this error, explained or not, may go well
	// if it is run again at once.
	Transient(error) bool
	// Settle is called after a COMMIT that failed and says whether it took effect after all. While it
	// returns an error, nobody knows, and no update is taken.
	Settle() (committed bool, err error)
	// Text is how this database searches.
	Text() TextIndex
	// Committed is called after each commit with the number drawn last.
	Committed(seq int64)
	// Close closes all connections.
	Close() error
}

// Locks waits for deliveries that another transaction has kept, or skips them. Run waits for runs.
type Locks struct{ Wait, Skip, Run string }

// Overwrite commits a change that nobody looks at. It is how a database with a write-ahead log settles
// a commit that failed: its sync may have failed after the last byte was written, and a crash would
// bring it back. The log of another commit takes its place.
func Overwrite(conn Conn, begin string) error {
	for _, statement := range []string{begin, "UPDATE counters SET repairs = repairs + 1", "COMMIT"} {
		if _, err := conn.Exec(statement); err != nil {
			_, _ = conn.Exec("ROLLBACK")
			return err
		}
	}
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// ErrNotOne means that the row to change is missing or has changed. It wraps parley.ErrNotFound.
var ErrNotOne = fmt.Errorf("a row to change is missing or has changed: %w", parley.ErrNotFound)

// Conn is one connection to a database. One goroutine uses it at a time. It keeps its statements prepared.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed. It returns an error if a COMMIT did not commit.
	Exec(query string, args ...any) (int64, error)
	// Later runs a statement whose result the caller does not need. The connection may send it together with the next statement,
	// which then returns its error. After such an error every statement fails until ROLLBACK.
	Later(query string, args ...any) error
	// LaterOne does what Later does for a statement that must change exactly one row. If it does not, the error is ErrNotOne, and
	// every statement fails until ROLLBACK.
	LaterOne(query string, args ...any) error
	// Query runs a statement that returns rows. The caller must close them before the next call.
	Query(query string, args ...any) (Rows, error)
}

// Rows is the result of a query.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Driver gives the store connections to one database, and hides how the databases differ.
type Driver interface {
	// Writer returns the only connection that writes.
	Writer() Conn
	// Reader lends a connection for one snapshot, until GiveBack. It returns the error of ctx if ctx is done before a connection
	// is free.
	Reader(ctx context.Context) (Conn, error)
	GiveBack(Conn)
	// Begin returns the statement that begins a writing transaction, and BeginView the statement that begins a snapshot.
	Begin() string
	BeginView() string
	// Locks returns the clauses that lock the rows of a query until the end of the transaction.
	Locks() Locks
	// LeaseNow returns the time on the lease clock in milliseconds. This clock never goes back, whatever happens to the wall
	// clock. If leases end with the process, the clock starts after every time that earlier processes got from it.
	LeaseNow(Conn) (int64, error)
	// Explain turns an error of the database into a *parley.Error with a sentence and a hint. It turns nil into nil.
	Explain(error) error
	// Transient reports whether a transaction that failed with this error may succeed if the store repeats it at once. The error
	// may be one that Explain returned.
	Transient(error) bool
	// Settle reports whether a COMMIT that returned an error took effect. The store calls it until it returns no error, and
	// accepts no updates before that.
	Settle() (committed bool, err error)
	// Text returns how this database searches texts.
	Text() TextIndex
	// Committed is called after each commit with the number of the newest message or event.
	Committed(seq int64)
	// Close closes all connections.
	Close() error
}

// Locks are the clauses that lock the rows of a query. Wait and Skip lock deliveries: if another transaction has locked one, Wait
// waits for it, and Skip leaves it out. Run locks runs, and waits too.
type Locks struct{ Wait, Skip, Run string }

// Overwrite commits a change without meaning. A database with a write-ahead log calls it after a commit that failed. The sync may
// have failed after the last byte was written: then a crash would bring the failed commit back. The new commit overwrites it in
// the log.
func Overwrite(conn Conn, begin string) error {
	for _, statement := range []string{begin, "UPDATE counters SET repairs = repairs + 1", "COMMIT"} {
		if _, err := conn.Exec(statement); err != nil {
			_, _ = conn.Exec("ROLLBACK")
			return err
		}
	}
	return nil
}

// session runs the updates of the writer on one tx. It keeps the counters and the directory of agents of that tx in step with the
// transaction. It implements groupcommit.Session.
type session struct {
	*tx
	committed func(seq int64)
}

// newSession returns the session of the connection that writes.
func newSession(driver Driver, clock func(Conn) (int64, error), found *damages) session {
	return session{
		tx: &tx{
			damages:  found,
			conn:     driver.Writer(),
			explain:  driver.Explain,
			clock:    clock,
			locks:    driver.Locks(),
			text:     driver.Text(),
			own:      newDirectory(0),
			writable: true,
		},
		committed: driver.Committed,
	}
}

// Run implements groupcommit.Session.
func (s session) Run(fn func(storage.Tx) error) (err, broken error) {
	err = s.run(fn)
	return err, s.broken
}

// Save implements groupcommit.Session.
func (s session) Save() { s.saved = s.counters }

// Restore implements groupcommit.Session.
func (s session) Restore() {
	if s.counters.verChanged && s.counters.version != s.saved.version {
		s.own = newDirectory(s.saved.version)
	}
	s.counters = s.saved
}

// Forget implements groupcommit.Session. It discards the numbers that the transaction drew and the agents that it changed.
func (s session) Forget() {
	if s.counters.verChanged {
		s.own = newDirectory(0)
	}
	s.counters = counters{}
}

// Flush implements groupcommit.Session. It writes the version of the agents, the only counter that cannot be read from the rows.
// The counters stay loaded for Committed.
func (s session) Flush() error {
	s.broken = nil
	if !s.counters.verChanged {
		return nil
	}
	return s.write("UPDATE counters SET agents = $1", s.counters.version)
}

// Committed implements groupcommit.Session.
func (s session) Committed() {
	if s.counters.seqLoaded {
		s.committed(s.counters.seq)
	}
	s.counters = counters{}
}

// run runs fn, turns a panic into an error, and returns the error of a statement that failed even if fn returns nil.
func (t *tx) run(fn func(storage.Tx) error) (err error) {
	t.broken, t.lastConv, t.lastInbox, t.undelivered = nil, conversationKey{}, agentInbox{}, ""
	defer func() {
		if p := recover(); p != nil {
			err = parley.Errorf(parley.Internal, "the hub failed inside an update: %v", p).
				Suggest("report this; nothing was written")
			err = errors.Join(err, fmt.Errorf("%s", debug.Stack()))
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.broken
}

package groupcommit

// Conn is the connection that writes. One goroutine uses it at a time.
type Conn interface {
	// Exec runs a statement and returns the number of rows that it changed. A COMMIT that did not commit is an error.
	Exec(query string, args ...any) (int64, error)
	// Later runs a statement whose result nobody needs. The connection may send it together with the next statement, which then
	// fails in its place. After such a failure everything fails until ROLLBACK.
	Later(query string, args ...any) error
}

// Database knows what a database is doing beneath its connection.
type Database interface {
	// Begin returns the statement that begins a writing transaction.
	Begin() string
	// Explain returns the *parley.Error for an error of the database, and nil for nil.
	Explain(error) error
	// Transient reports whether a transaction that ended with this error, explained or not, may succeed if it runs again at once.
	// It is false for nil.
	Transient(error) bool
	// Settle is called after a COMMIT that failed and reports whether it took effect after all. An error means that this is not
	// known yet.
	Settle() (committed bool, err error)
}

// Session runs updates in the open transaction of the connection. It also keeps what updates change outside of the database,
// such as counters and caches, in step with that transaction.
type Session[T any] interface {
	// Run runs one update. err is the error of fn. A panic of fn is an error too, and so is a failed statement whose error fn hid.
	// broken is the error of the statement that failed, or nil: after it, the transaction may have ended.
	Run(fn func(T) error) (err, broken error)
	// Save marks the state that Restore returns to.
	Save()
	// Restore undoes what the update since Save changed outside of the database.
	Restore()
	// Forget drops all state of a transaction that was rolled back.
	Forget()
	// Flush writes what must be in the database before the commit. It returns the error of the database.
	Flush() error
	// Committed is called after each commit, before any caller learns of it.
	Committed()
}

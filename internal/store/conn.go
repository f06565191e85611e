package store

import (
	"context"
)

// Conn is one connection, used by one goroutine at a time. It keeps its statements prepared.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed. A COMMIT that did not commit is an
	// error.
	Exec(query string, args ...any) (int64, error)
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
	// Explain turns an error of the database into an *Error with a sentence and a hint, and nil into
	// nil.
	Explain(error) error
	// Text is how this database searches.
	Text() TextIndex
	// Committed is called after each commit with the number drawn last.
	Committed(seq int64)
	// Close closes all connections.
	Close() error
}

// Package store is the SQL store, written once for two databases. It keeps rows and returns the
// words of package parley; it decides nothing.
//
// There is one writing connection, and a turn to use it. Whoever has the turn takes the updates that
// wait and runs them in one transaction, each but the first in a savepoint; one commit acknowledges
// them all. Reads use other connections. No context of a caller ever reaches a
// connection: an interrupted statement would take the innocent updates of its batch with it.
//
// What differs between databases is behind Driver and Conn. The statements are shared: they use
// numbered placeholders ($1), ON CONFLICT and RETURNING, which both understand, and no statement
// relies on going on after an error, because on PostgreSQL an error ends the savepoint. A limit is
// written LIMIT 0 + $1: SQLite prepares a statement with a bare LIMIT $1 anew for every execution.
package store

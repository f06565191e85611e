// Package store is the SQL store, written once for SQLite and PostgreSQL. It keeps rows and returns types of package parley. It
// makes no decisions: the rules are in the hub.
//
// One connection writes, and package groupcommit runs the updates on it in batches. Views read from other connections. The
// context of a caller never reaches a connection, because an interrupted statement would undo the other updates of its batch.
//
// Driver and Conn hide how the databases differ. The statements are shared: they use numbered placeholders ($1), ON CONFLICT and
// RETURNING, which both databases understand. No transaction continues after an error of a statement, because on PostgreSQL an
// error ends the savepoint. A limit is written LIMIT 0 + $1: SQLite would prepare a statement with a bare LIMIT $1 again for each
// execution.
package store

// Package storage says what the hub demands of a store: its interfaces, and the rows that they take and return. A transaction
// (Tx) has one interface for each table. internal/store implements the interfaces on SQLite and PostgreSQL.
// internal/store/storetest tests every store against the comments here.
package storage

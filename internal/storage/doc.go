// Package storage says what the hub demands of a store: its interfaces, and the rows that they take and return. A transaction (Tx) has
// one interface for each table. internal/store keeps them on SQLite and PostgreSQL; internal/store/storetest holds every store to the
// comments here.
package storage

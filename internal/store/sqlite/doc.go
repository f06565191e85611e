// Package sqlite is the store's first database: one file in the hub's home, used by one process.
//
// Files in a home: parley.db and its write-ahead log, parley.lock (held while a hub runs, and
// says who it is), parley.mark and parley.head (the number of the newest committed message or event, by which a
// lost or cut write-ahead log is noticed), parley.unchecked (there from an unclean stop until a
// check has gone through), artifacts/ (the bodies of artifacts) and backups/ (made before a
// migration).
package sqlite

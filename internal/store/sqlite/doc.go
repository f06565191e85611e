// Package sqlite stores a hub's data with SQLite: in one file in the hub's home, which one process uses.
//
// A home contains:
//
//   - parley.db and its write-ahead log.
//   - parley.lock, which a running hub keeps locked. It names the process.
//   - parley.mark and parley.head: two copies of the number of the newest committed message or event. With them the hub notices
//     that its write-ahead log was lost or cut.
//   - parley.unchecked, which exists from an unclean stop until a check has passed.
//   - artifacts/, the bodies of artifacts.
//   - backups/, copies of the database that the hub makes before migrations.
package sqlite

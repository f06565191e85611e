package sqlite

import "github.com/parley-hub/parley/internal/store"

// Measure counts the statements of the database from now on. It is called before the database is used.
func (db *DB) Measure(m *store.Meter) {
	for _, c := range append([]*conn{db.driver.writer}, db.driver.readers.all...) {
		c.meter = m
	}
}

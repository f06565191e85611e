package sqlite

import "github.com/parley-hub/parley/internal/store"

// Measure makes m count the statements of the database from now on. Call it before the first use of the database.
func (db *DB) Measure(m *store.Meter) {
	for _, c := range append([]*conn{db.driver.writer}, db.driver.readers.all...) {
		c.meter = m
	}
}

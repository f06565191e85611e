package postgres

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// CheckDeep verifies everything that is stored: every message, artifact and audit entry, every count.
// Pages, indexes and references are the server's own care. progress, which may be nil, is told now and
// then how far it is. An error means that the check could not be made; what it found is in the report.
func (db *DB) CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	if progress == nil {
		progress = func(parley.CheckReport) {}
	}
	err = store.Check(ctx, db, &report, progress)
	return report, err
}

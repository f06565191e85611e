package hubtest

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// LastEventNumber returns the number of the newest event.
func (f *Fixture) LastEventNumber() int64 {
	f.T.Helper()
	n, err := f.LastEvent(ctx, Owner)
	f.NoError(err)
	return n
}

// AuditEntries returns the audit log without refusals, which the hub writes in the background.
func (f *Fixture) AuditEntries() []parley.AuditEntry {
	f.T.Helper()
	return slices.DeleteFunc(f.AuditEntriesWithRefusals(), func(e parley.AuditEntry) bool { return e.Act == "refused" })
}

// AuditEntriesWithRefusals returns the audit log.
func (f *Fixture) AuditEntriesWithRefusals() []parley.AuditEntry {
	f.T.Helper()
	var list []parley.AuditEntry
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Log().AuditEntries(0, 1000)
		return err
	}))
	return list
}

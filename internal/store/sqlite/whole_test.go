package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/store/storetest"
)

func dumped(t *testing.T, db *DB) (all any) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) (err error) {
		all, err = storetest.Dump(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A backup has what a store can be asked for, whatever noun it belongs to.
func TestBackupHoldsEveryNoun(t *testing.T) {
	db := opened(t, t.TempDir())
	if err := db.Update(t.Context(), storetest.Fill); err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "home")
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, home); err != nil {
		t.Fatal(err)
	}
	if diff := storetest.Diff(dumped(t, db), dumped(t, opened(t, home))); diff != "" {
		t.Errorf("restored (-was +is):\n%s", diff)
	}
}

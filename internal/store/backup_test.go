package store

import (
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley"
)

// A second backup of the same name must not take the first for one that was interrupted.
func TestBackupIsNotDisturbedByAnotherOfItsName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := MakeBackup(t.Context(), dir, func(partial string) (m Manifest, err error) {
		_, second := MakeBackup(t.Context(), dir, func(string) (m Manifest, err error) { return m, nil })
		if e := parley.AsError(second); e.Code != parley.BadInput || e.Reason != parley.Conflict {
			t.Errorf("the second: %v", second)
		}
		return m, m.Write(partial)
	})
	if err == nil {
		_, err = ReadManifest(dir, "")
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := MakeBackup(t.Context(), dir+"-2", func(string) (m Manifest, err error) { return m, nil }); err != nil {
		t.Errorf("another name: %v", err)
	}
}

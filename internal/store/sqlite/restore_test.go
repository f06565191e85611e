package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// Every byte of a backup counts.
func TestOneFlippedByteInABackupIsFound(t *testing.T) {
	dir, _ := backedUp(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range filesIn(t, dir) {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			at, bit := r.IntN(len(whole)), byte(1)<<r.IntN(8)
			damaged := bytes.Clone(whole)
			damaged[at] ^= bit
			writeFile(t, path, damaged)
			if _, err := Verify(t.Context(), dir); err == nil {
				t.Errorf("%s: byte %d was changed by %d, and nobody noticed", name, at, bit)
			}
		}
		writeFile(t, path, whole)
	}
	if _, err := Verify(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBackupThatLacksSomethingIsRefused(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 5) },
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"gone":    os.Remove,
		"a link": func(path string) error {
			aside := filepath.Join(t.TempDir(), "aside")
			return errors.Join(os.Rename(path, aside), os.Symlink(aside, path))
		},
	} {
		dir, _ := backedUp(t)
		for i := range filesIn(t, dir) {
			dir, _ := backedUp(t)
			file := filesIn(t, dir)[i]
			if file == store.ManifestName && name == "a link" {
				continue // what it leads to is all that counts of it
			}
			if err := damage(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(t.TempDir(), "home")
			if _, err := Restore(t.Context(), dir, home); err == nil {
				t.Errorf("%s is %s, and was restored", file, name)
			} else {
				says(t, err, "backup")
			}
			if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is %s, and a home was made: %v", file, name, err)
			}
		}
	}
}

func TestEditedManifestIsRefused(t *testing.T) {
	dir, _ := backedUp(t)
	path := filepath.Join(dir, store.ManifestName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for old, edited := range map[string]string{
		`"messages": 15`: `"messages": 14`, `"seq": 15`: `"seq":  15`, `"format": 1`: `"format": 1, "format": 1`,
		`"database": "sqlite"`: `"database": "postgres"`, "}\n": "}\n\n", `"artifacts/`: `"../artifacts/`,
	} {
		if !strings.Contains(string(whole), old) {
			t.Fatalf("the manifest has no %s", old)
		}
		writeFile(t, path, []byte(strings.Replace(string(whole), old, edited, 1)))
		_, err := Verify(t.Context(), dir)
		says(t, err, "is damaged", "was changed")
	}
}

// rewriteManifest puts another manifest, whole in itself, into a backup.
func rewriteManifest(t *testing.T, dir string, edit func(*store.Manifest)) {
	t.Helper()
	m, err := store.ReadManifest(dir, manifestDatabase)
	if err != nil {
		t.Fatal(err)
	}
	edit(&m)
	if err := errors.Join(os.Remove(filepath.Join(dir, store.ManifestName)), m.Write(dir)); err != nil {
		t.Fatal(err)
	}
}

func TestBackupOfANewerOrAnotherProgramIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*store.Manifest)
		words []string
	}{
		"format":   {func(m *store.Manifest) { m.Format, m.Program = 2, "7.0.0" }, []string{"E002", "newer format", "install parley 7.0.0"}},
		"database": {func(m *store.Manifest) { m.Database = "postgres" }, []string{"E003", "postgres", "sqlite"}},
		"nothing":  {func(m *store.Manifest) { m.Files = nil }, []string{"it has no files"}},
	} {
		dir, _ := backedUp(t)
		rewriteManifest(t, dir, c.edit)
		_, err := Restore(t.Context(), dir, filepath.Join(t.TempDir(), name))
		says(t, err, c.words...)
	}
	home, _ := filled(t)
	raw(t, home, "UPDATE meta SET value = '0.1.0'")
	db := opened(t, home)
	raw(t, home, "UPDATE meta SET value = '99.0.0' WHERE key = 'min_program'")
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	_, err := Restore(t.Context(), dir, filepath.Join(t.TempDir(), "home"))
	says(t, err, "E002", "needs parley 99.0.0")
}

func TestRestoreRefusesAHomeThatHasADatabase(t *testing.T) {
	dir, _ := backedUp(t)
	home, ids := filled(t)
	_, err := Restore(t.Context(), dir, home)
	says(t, err, "E003", "already has a database", "new home")
	holds(t, opened(t, home), ids)
	_, err = Restore(t.Context(), dir, home)
	says(t, err, "is in use by process")
	lost, _ := crashed(t)
	if err := os.Remove(filepath.Join(lost, databaseName)); err != nil {
		t.Fatal(err)
	}
	_, err = Restore(t.Context(), dir, lost)
	says(t, err, "already has a database (parley.db-wal)")
}

// What is left of a lost database, or of a restore that was interrupted, is not in the way.
func TestRestoreIntoTheRemainsOfAHome(t *testing.T) {
	dir, ids := backedUp(t)
	home, _ := filled(t)
	if err := os.Remove(filepath.Join(home, databaseName)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "parley.mark"), fmt.Appendf(nil, "%020d\n", 1_000_000))
	writeFile(t, filepath.Join(home, "parley.unchecked"), []byte("it was damaged\n"))
	writeFile(t, filepath.Join(home, databaseName+restoringSuffix), []byte("half a database"))
	if err := os.Mkdir(filepath.Join(home, bodiesName), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, bodiesName, "partial-ABC"), []byte("half a body"))
	if _, err := Restore(t.Context(), dir, home); err != nil {
		t.Fatal(err)
	}
	db := opened(t, home)
	holds(t, db, ids)
	if err := deep(t, db); err != nil {
		t.Error(err)
	}
	if _, err := post(db, general(t, db), "goes on"); err != nil {
		t.Error(err)
	}
	for _, name := range filesIn(t, home) {
		if strings.HasSuffix(name, restoringSuffix) || strings.Contains(name, "partial-") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestNoBackupIsSaidToBeNone(t *testing.T) {
	_, err := Restore(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "home"))
	says(t, err, "E003", "is not a backup")
	if parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("reason: %v", parley.AsError(err).Reason)
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/blobfs"
)

const restoringSuffix = ".restoring"

// Restore puts a backup into a home that has no database. It returns an error for a backup that is damaged or needs a newer
// program, and for a home that a hub uses. The database gets its name last, so an interrupted restore leaves no database and
// can be repeated.
func Restore(ctx context.Context, from, home string) (m store.Manifest, err error) {
	if m, err = Verify(ctx, from); err != nil {
		return m, err
	}
	home, err = filepath.Abs(home)
	if err != nil {
		return m, err
	}
	if err := makeHome(home); err != nil {
		return m, err
	}
	if err := refuseNetwork(home); err != nil {
		return m, err
	}
	locked, err := acquireLock(home, filepath.Join(home, "parley.lock"))
	if err != nil {
		return m, err
	}
	err = restoreLocked(ctx, from, home, m)
	return m, errors.Join(explain(filepath.Join(home, databaseName), err), locked.release())
}

func restoreLocked(ctx context.Context, from, home string, m store.Manifest) error {
	if err := refuseDatabase(home); err != nil {
		return err
	}
	target := filepath.Join(home, databaseName)
	restoring := target + restoringSuffix
	if err := copyFile(filepath.Join(from, databaseName), restoring, m.Files[0]); err != nil {
		return err
	}
	if err := restoreBodies(ctx, from, home, m); err != nil {
		return err
	}
	// These files, if they exist, belong to the database that was in the home before.
	if err := removeAll(filepath.Join(home, "parley.mark"), filepath.Join(home, "parley.head"), filepath.Join(home, "parley.unchecked"), target+"-shm"); err != nil {
		return err
	}
	return errors.Join(os.Rename(restoring, target), store.SyncPath(home))
}

// HasData reports whether a home has a database or files that a database has left.
func HasData(home string) (bool, error) {
	for _, name := range []string{databaseName, databaseName + "-wal", "parley.mark", "parley.head"} {
		if found, err := exists(filepath.Join(home, name)); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func refuseDatabase(home string) error {
	for _, name := range []string{databaseName, databaseName + "-wal", databaseName + "-journal"} {
		found, err := exists(filepath.Join(home, name))
		if err != nil {
			return err
		}
		if found {
			return parley.Errorf(parley.BadInput, "the home %s already has a database (%s)", home, name).Because(parley.Conflict).
				Suggest("restore into a new home, or move parley.db and all files whose names begin with parley.db aside together")
		}
	}
	return nil
}

// copyFile copies a file and syncs the copy. It returns an error if the file is not the one that the manifest describes.
func copyFile(from, to string, want store.ManifestFile) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, parley.Verified(source, want.SHA256))
	if err == nil {
		err = target.Sync()
	}
	if err := errors.Join(err, target.Close()); err != nil {
		return errors.Join(fmt.Errorf("copying %s: %w", from, err), os.Remove(to))
	}
	return nil
}

func restoreBodies(ctx context.Context, from, home string, m store.Manifest) (err error) {
	source, err := blobfs.OpenToRead(filepath.Join(from, bodiesName))
	if err != nil {
		return err
	}
	target, err := blobfs.Open(filepath.Join(home, bodiesName))
	if err != nil {
		return errors.Join(err, source.Close())
	}
	defer func() { err = errors.Join(err, source.Close(), target.Close()) }()
	for _, body := range m.Files[1:] {
		if err := copyBody(ctx, source, target, body.SHA256); err != nil {
			return err
		}
	}
	return nil
}

func removeAll(paths ...string) error {
	var errs []error
	for _, path := range paths {
		errs = append(errs, ignoreMissing(os.Remove(path)))
	}
	return errors.Join(errs...)
}

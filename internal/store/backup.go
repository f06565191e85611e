package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/parley-hub/parley"
)

const (
	partialSuffix = ".partial"
	// CopySuffix ends the name of a file that holds one table.
	CopySuffix = ".copy"
)

// backupsInProgress has the directories to which this process is writing backups. Without it, a second backup to the same
// directory would remove the files of the first, because it would take them for the files of an interrupted backup.
var backupsInProgress sync.Map

// MakeBackup makes the new directory dir.partial, lets fill write a backup into it, and renames it to dir when fill has
// succeeded. If anything fails, MakeBackup removes the directory.
func MakeBackup(ctx context.Context, dir string, fill func(partial string) (Manifest, error)) (result parley.Backup, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return result, err
	}
	if _, taken := backupsInProgress.LoadOrStore(dir, true); taken {
		return result, parley.Errorf(parley.BadInput, "another call is already making the backup %s", dir).Because(parley.Conflict).
			Suggest("wait for it, or name another directory")
	}
	defer backupsInProgress.Delete(dir)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return result, parley.Errorf(parley.BadInput, "%s exists already", dir).Because(parley.Conflict).
			From(err).Suggest("name a directory that does not exist")
	}
	partial := dir + partialSuffix
	if err := clearPartial(partial); err != nil {
		return result, err
	}
	if err := os.Mkdir(partial, 0o700); err != nil {
		return result, parley.Errorf(parley.BadInput, "cannot write the backup: %w", err).
			Suggest("name a new directory inside one that exists and is writable")
	}
	m, err := fill(partial)
	if err == nil {
		err = errors.Join(os.Rename(partial, dir), SyncPath(filepath.Dir(dir)))
	}
	if err != nil {
		return result, errors.Join(explainFailure(ctx, dir, err), os.RemoveAll(partial))
	}
	return m.summary(dir), nil
}

// clearPartial removes the directory of an interrupted backup. It refuses to remove a directory with other files.
func clearPartial(partial string) error {
	backupFiles := []string{"parley.db", "parley.db-journal", "artifacts", ManifestName}
	entries, err := os.ReadDir(partial)
	for _, entry := range entries {
		if !slices.Contains(backupFiles, entry.Name()) && !strings.HasSuffix(entry.Name(), CopySuffix) {
			return parley.Errorf(parley.BadInput, "%s exists, but is not an interrupted backup", partial).
				Because(parley.Conflict).Suggest("remove it, or name another directory")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(partial)
}

// explainFailure returns the error for a backup that failed with err.
func explainFailure(ctx context.Context, dir string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	failed := parley.Errorf(parley.Unavailable, "cannot make the backup %s: %w", dir, err).Retryable(0)
	if errors.Is(err, syscall.ENOSPC) {
		return failed.Because(parley.StorageFull).Suggest("free space on the disk, or name a directory on another disk")
	}
	return failed.Suggest("check the disk and the permissions of %s", filepath.Dir(dir))
}

// VerifyBackup reads a whole backup and compares every file with the manifest. It changes nothing.
func VerifyBackup(ctx context.Context, dir, database string) (m Manifest, err error) {
	if m, err = ReadManifest(dir, database); err != nil {
		return m, err
	}
	if len(m.Files) == 0 {
		return m, BackupDamaged(dir, errors.New("it has no files"))
	}
	for _, want := range m.Files {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		found, err := DescribeFile(dir, want.Path)
		if err != nil {
			return m, BackupDamaged(dir, err)
		}
		if found != want {
			return m, BackupDamaged(dir, fmt.Errorf("%s differs from the manifest", want.Path))
		}
	}
	return m, nil
}

// SyncPath makes a file, or the names in a directory, durable.
func SyncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

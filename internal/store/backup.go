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

// beingMade are the directories that backups of this process are being written to: a second one of the same
// name would take what the first has written for what an interrupted one has left.
var beingMade sync.Map

// MakeBackup lets fill write a backup into a new directory, which gets its name once fill has returned
// well, and is called dir.partial until then. If anything fails, nothing is left.
func MakeBackup(ctx context.Context, dir string, fill func(partial string) (Manifest, error)) (made parley.Backup, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return made, err
	}
	if _, taken := beingMade.LoadOrStore(dir, true); taken {
		return made, parley.Errorf(parley.BadInput, "the backup %s is being made already", dir).Because(parley.Conflict).
			Suggest("wait for it, or name another directory")
	}
	defer beingMade.Delete(dir)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return made, parley.Errorf(parley.BadInput, "%s exists already", dir).Because(parley.Conflict).
			From(err).Suggest("name a directory that does not exist")
	}
	partial := dir + partialSuffix
	if err := clearPartial(partial); err != nil {
		return made, err
	}
	if err := os.Mkdir(partial, 0o700); err != nil {
		return made, parley.Errorf(parley.BadInput, "the backup cannot be written: %w", err).
			Suggest("name a new directory in one that exists and can be written")
	}
	m, err := fill(partial)
	if err == nil {
		err = errors.Join(os.Rename(partial, dir), SyncPath(filepath.Dir(dir)))
	}
	if err != nil {
		return made, errors.Join(backupFailed(ctx, dir, err), os.RemoveAll(partial))
	}
	return m.made(dir), nil
}

// clearPartial removes what a backup that was interrupted has left, and nothing else.
func clearPartial(partial string) error {
	ours := []string{"parley.db", "parley.db-journal", "artifacts", ManifestName}
	entries, err := os.ReadDir(partial)
	for _, entry := range entries {
		if !slices.Contains(ours, entry.Name()) && !strings.HasSuffix(entry.Name(), CopySuffix) {
			return parley.Errorf(parley.BadInput, "%s is in the way, and not an interrupted backup", partial).
				Because(parley.Conflict).Suggest("remove it, or name another directory")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(partial)
}

// backupFailed is what is said of a backup that could not be made.
func backupFailed(ctx context.Context, dir string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	failed := parley.Errorf(parley.Unavailable, "the backup %s could not be made: %w", dir, err).Retryable(0)
	if errors.Is(err, syscall.ENOSPC) {
		return failed.Because(parley.StorageFull).Suggest("make room, or name a directory on another disk")
	}
	return failed.Suggest("check the disk and the permissions of %s", filepath.Dir(dir))
}

// VerifyBackup reads a whole backup and makes sure that every byte is what was verified when it was
// made. It changes nothing.
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
			return m, BackupDamaged(dir, fmt.Errorf("%s is not what the manifest says", want.Path))
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

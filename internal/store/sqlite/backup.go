package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/blobfs"
)

const manifestDatabase = "sqlite"

// Backup copies the database, as of one moment, and the bodies of its artifacts into a new directory. The hub can go on writing
// meanwhile. Backup reads and verifies the copy before it gives the directory its name. If anything fails, Backup removes the
// copy.
func (db *DB) Backup(ctx context.Context, dir string) (parley.Backup, error) {
	return store.MakeBackup(ctx, dir, func(partial string) (store.Manifest, error) { return db.backUpTo(ctx, partial) })
}

func (db *DB) backUpTo(ctx context.Context, dir string) (m store.Manifest, err error) {
	if err := db.copyAll(ctx, dir); err != nil {
		return m, err
	}
	copied, err := openSnapshot(dir)
	if err != nil {
		return m, err
	}
	report, seq, err := copied.check(ctx, func(parley.CheckReport) {})
	if err == nil {
		m = store.NewManifest(manifestDatabase, report, seq)
		m.Files, err = listFiles(ctx, dir, copied)
	}
	if err := errors.Join(err, copied.Close()); err != nil {
		return m, err
	}
	if err := errors.Join(m.Write(dir), store.SyncPath(dir)); err != nil {
		return m, err
	}
	return store.ReadManifest(dir, manifestDatabase)
}

// copyAll copies the database and then the bodies that the copy refers to. The hub removes no body meanwhile.
func (db *DB) copyAll(ctx context.Context, dir string) error {
	defer db.bodies.Pause()()
	if err := db.copyDatabase(ctx, filepath.Join(dir, databaseName)); err != nil {
		return err
	}
	to, err := blobfs.Open(filepath.Join(dir, bodiesName))
	if err != nil {
		return err
	}
	copied, err := openSnapshot(dir)
	if err != nil {
		return errors.Join(err, to.Close())
	}
	err = eachArtifact(ctx, copied, func(a storage.StoredArtifact) error { return copyBody(ctx, db.bodies, to, a.SHA256) })
	return errors.Join(err, copied.Close(), to.Close())
}

// copyDatabase writes the database as of one moment to a new file. It reads a snapshot on its own connection, so that it does not
// block the writer.
func (db *DB) copyDatabase(ctx context.Context, target string) error {
	// createFile sets the permissions before SQLite writes, so that other users can never read the messages in the copy.
	if err := createFile(target); err != nil {
		return err
	}
	c, err := newConn(db.path)
	if err != nil {
		return explain(db.path, err)
	}
	c.sqlite.SetInterrupt(ctx.Done())
	_, err = c.Exec("VACUUM INTO $1", target)
	if err != nil {
		err = explainUnlessCanceled(ctx, target, err)
	} else {
		err = store.SyncPath(target)
	}
	return errors.Join(err, c.close())
}

func copyBody(ctx context.Context, from, to storage.Blobs, sha256 string) error {
	body, size, err := from.Open(ctx, sha256)
	if errors.Is(err, parley.ErrNotFound) {
		return parley.Errorf(parley.Internal, "the body of artifact %s is missing", sha256).
			Suggest("store the artifact again to repair it")
	}
	if err != nil {
		return fmt.Errorf("artifact %s: %w", sha256, err)
	}
	err = to.Put(ctx, body, size, func(string, int64) error { return nil })
	return errors.Join(err, body.Close())
}

// eachArtifact calls visit for every artifact whose body has not been removed from a store.
func eachArtifact(ctx context.Context, s storage.Store, visit func(storage.StoredArtifact) error) error {
	const page = 500
	for after := ""; ; {
		var list []storage.StoredArtifact
		err := s.View(ctx, func(tx storage.Tx) (err error) {
			list, err = tx.Artifacts().List(after, page)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, a := range list {
			if a.RemovedAt != nil {
				continue
			}
			if err := visit(a); err != nil {
				return err
			}
		}
		after = list[len(list)-1].SHA256
	}
}

// listFiles describes the files of a backup. The size and digest of a body are those of its row: the check of the copy has compared
// the row with the body.
func listFiles(ctx context.Context, dir string, s *snapshot) ([]store.ManifestFile, error) {
	database, err := store.DescribeFile(dir, databaseName)
	if err != nil {
		return nil, err
	}
	list := []store.ManifestFile{database}
	err = eachArtifact(ctx, s, func(a storage.StoredArtifact) error {
		name := path.Join(bodiesName, blobfs.Name(a.SHA256))
		list = append(list, store.ManifestFile{Path: name, Size: a.Size, SHA256: a.SHA256})
		return nil
	})
	return list, err
}

// Verify reads a whole backup, and returns an error if any file differs from the manifest or if this program is too old to use
// the backup. It changes nothing.
func Verify(ctx context.Context, dir string) (m store.Manifest, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return m, err
	}
	if m, err = store.VerifyBackup(ctx, dir, manifestDatabase); err != nil {
		return m, err
	}
	if m.Files[0].Path != databaseName {
		return m, store.BackupDamaged(dir, errors.New("it has no database"))
	}
	return m, checkBackupProgram(ctx, filepath.Join(dir, databaseName))
}

func checkBackupProgram(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", immutableURI(path))
	if err != nil {
		return err
	}
	return errors.Join(checkProgram(ctx, db), db.Close())
}

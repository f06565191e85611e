package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/blobfs"
)

// oldestSQLite is the first version that fixes a bug which could lose pages when a write-ahead log was reset during a read.
const oldestSQLite = "3.51.3"

// Names of files that a home and a backup both contain.
const (
	databaseName = "parley.db"
	bodiesName   = "artifacts"
)

// DB is an open database. Besides the methods of the store it has those that only a database in a file can have.
type DB struct {
	*store.Store
	driver    *driver
	path      string
	bodies    *blobfs.Dir
	pending   *pendingCheck
	stop      context.CancelFunc
	checkDone chan struct{}
	checkErr  error
}

var (
	_ storage.Store = (*DB)(nil)
	_ storage.Disk  = (*DB)(nil)
)

// Open opens the database in a home directory and brings its schema up to date. It creates the home and the database if they do
// not exist. It returns an error with a hint for a home that another process uses, a home on a network file system, a damaged
// file, the database of another program, and a database that needs a newer program.
//
// After an unclean stop Open starts a check in the background. If the check finds damage, the store refuses updates.
func Open(ctx context.Context, home string) (*DB, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return nil, err
	}
	if err := makeHome(home); err != nil {
		return nil, parley.Errorf(parley.Unavailable, "cannot create the home %s: %w", home, err).
			Suggest("choose another home")
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	if err := refuseNetwork(home); err != nil {
		return nil, err
	}
	locked, err := acquireLock(home, filepath.Join(home, "parley.lock"))
	if err != nil {
		return nil, err
	}
	db, err := openLocked(ctx, home, locked)
	if err != nil {
		return nil, errors.Join(explain(filepath.Join(home, "parley.db"), err), locked.release())
	}
	return db, nil
}

// makeHome creates a home and syncs its parent directories, because a power loss could remove an unsynced directory with its
// content.
func makeHome(home string) error {
	var parents []string // of the directories that do not exist yet
	for dir := home; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if err == nil || dir == filepath.Dir(dir) {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		parents = append(parents, filepath.Dir(dir))
	}
	errs := []error{os.MkdirAll(home, 0o700)}
	for _, parent := range parents {
		errs = append(errs, store.SyncPath(parent))
	}
	return errors.Join(errs...)
}

func openLocked(ctx context.Context, home string, locked *lock) (_ *DB, err error) {
	path := filepath.Join(home, databaseName)
	mark, err := openMark(home)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, mark.close())
		}
	}()
	unclean, err := checkFile(path, mark)
	if err != nil {
		return nil, err
	}
	pending := &pendingCheck{path: filepath.Join(home, "parley.unchecked")}
	if err := pending.load(unclean); err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	if err := migrate(ctx, path, filepath.Join(home, "backups")); err != nil {
		return nil, err
	}
	if err := store.SyncPath(home); err != nil {
		return nil, err
	}
	bodies, err := blobfs.Open(filepath.Join(home, bodiesName))
	if err != nil {
		return nil, err
	}
	d, err := connect(path)
	if err != nil {
		return nil, errors.Join(err, bodies.Close())
	}
	d.mark, d.lock = mark, locked
	checking, stop := context.WithCancel(context.WithoutCancel(ctx))
	db := &DB{Store: store.New(d), driver: d, path: path, bodies: bodies, pending: pending, stop: stop, checkDone: make(chan struct{})}
	if pending.failure != nil {
		db.Halt(pending.failure)
	}
	if pending.due {
		go db.checkInBackground(checking)
	} else {
		close(db.checkDone)
	}
	return db, nil
}

// Close stops the background check, waits for accepted updates and closes the database.
func (db *DB) Close() error {
	db.stop()
	<-db.checkDone
	return errors.Join(db.Store.Close(), db.bodies.Close())
}

// Space implements storage.Disk. It returns the space on the disk of the home.
func (db *DB) Space() (free, total int64, err error) { return space(filepath.Dir(db.path)) }

// Blobs implements storage.Store. The bodies are files in the home.
func (db *DB) Blobs() storage.Blobs { return db.bodies }

// createFile creates a file that only this user can read. SQLite would create it with other permissions.
func createFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return parley.Errorf(parley.Unavailable, "cannot open the database: %w", err).
			Suggest("check the permissions of %s and its directory", path)
	}
	return file.Close()
}

// withDB opens a file with database/sql, which goose needs, and calls fn with it.
func withDB(path string, fn func(*sql.DB) error) error {
	settings := url.Values{}
	for _, pragma := range pragmas {
		settings.Add("_pragma", pragma)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String()+"?"+settings.Encode())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(fn(db), db.Close())
}

// exists reports whether there is a file that is not empty.
func exists(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

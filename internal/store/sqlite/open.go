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

// oldestSQLite is the first version without the bug that could lose pages when a write-ahead log
// was reset under a reader.
const oldestSQLite = "3.51.3"

// What a home and a backup have in common.
const (
	databaseName = "parley.db"
	bodiesName   = "artifacts"
)

// DB is an open database: the store on it, and what can be asked of a file only.
type DB struct {
	*store.Store
	driver   *driver
	path     string
	bodies   *blobfs.Dir
	due      *dueCheck
	stop     context.CancelFunc
	checked  chan struct{}
	checkErr error
}

var (
	_ storage.Store = (*DB)(nil)
	_ storage.Disk  = (*DB)(nil)
)

// Open opens the database in a home directory, creating both where they do not exist, and brings
// its schema up to date. It refuses, with a sentence that says what to do: a home that another
// process uses or that is on a network file system, a file that is damaged or is not Parley's, and
// a database made for newer programs only.
//
// After an unclean stop a check runs behind the start; if it fails, updates are refused.
func Open(ctx context.Context, home string) (*DB, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return nil, err
	}
	if err := makeHome(home); err != nil {
		return nil, parley.Errorf(parley.Unavailable, "the home %s cannot be made: %w", home, err).
			Suggest("choose another home")
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	if err := refuseNetwork(home); err != nil {
		return nil, err
	}
	held, err := acquire(home, filepath.Join(home, "parley.lock"))
	if err != nil {
		return nil, err
	}
	db, err := openHeld(ctx, home, held)
	if err != nil {
		return nil, errors.Join(explain(filepath.Join(home, "parley.db"), err), held.release())
	}
	return db, nil
}

// makeHome makes a new directory durable too: it could be lost with all that is in it.
func makeHome(home string) error {
	var parents []string // of what does not exist yet
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

func openHeld(ctx context.Context, home string, held *lock) (_ *DB, err error) {
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
	due := &dueCheck{path: filepath.Join(home, "parley.unchecked")}
	if err := due.remember(unclean); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
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
	d.mark, d.lock = mark, held
	checking, stop := context.WithCancel(context.WithoutCancel(ctx))
	db := &DB{Store: store.New(d), driver: d, path: path, bodies: bodies, due: due, stop: stop, checked: make(chan struct{})}
	if due.failure != nil {
		db.Halt(due.failure)
	}
	if due.due {
		go db.checkBehind(checking)
	} else {
		close(db.checked)
	}
	return db, nil
}

// Close stops what runs and closes the database. Everything acknowledged is in the file.
func (db *DB) Close() error {
	db.stop()
	<-db.checked
	return errors.Join(db.Store.Close(), db.bodies.Close())
}

// Space implements parley.Disk: the disk is that of the home.
func (db *DB) Space() (free, total int64, err error) { return space(filepath.Dir(db.path)) }

// Blobs implements parley.Store: bodies are files in the home.
func (db *DB) Blobs() storage.Blobs { return db.bodies }

// create makes the file with the right permissions before SQLite does with others.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return parley.Errorf(parley.Unavailable, "the database cannot be opened: %w", err).
			Suggest("check the permissions of %s and its directory", path)
	}
	return file.Close()
}

// withDB opens a file through database/sql, which is what migrations need.
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

func exists(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

package sqlite

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"

	"github.com/parley-hub/parley/internal/storage"

	"zombiezen.com/go/sqlite"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/blobfs"
)

// snapshot is a store on a backup, whose files nobody changes. Reading it changes no file either.
type snapshot struct {
	*store.Store
	path   string
	bodies *blobfs.Dir
}

var _ storage.Store = (*snapshot)(nil)

func openSnapshot(dir string) (*snapshot, error) {
	bodies, err := blobfs.OpenToRead(filepath.Join(dir, bodiesName))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, databaseName)
	c, err := openImmutable(path)
	if err != nil {
		return nil, errors.Join(explain(path, err), bodies.Close())
	}
	return &snapshot{Store: store.New(&immutableDriver{driver{path: path, writer: c, readers: newPool([]*conn{c})}}), path: path, bodies: bodies}, nil
}

// Blobs implements storage.Store.
func (s *snapshot) Blobs() storage.Blobs { return s.bodies }

func (s *snapshot) Close() error { return errors.Join(s.Store.Close(), s.bodies.Close()) }

func immutableURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&immutable=1"}).String()
}

// openImmutable opens a file without locks and ignores a write-ahead log beside it.
func openImmutable(path string) (*conn, error) {
	opened, err := sqlite.OpenConn(immutableURI(path), sqlite.OpenReadOnly, sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	c := &conn{sqlite: opened, statements: map[string]*sqlite.Stmt{}}
	for _, pragma := range []string{"query_only=1", "trusted_schema=0", "cell_size_check=1"} {
		if _, err := c.Exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// immutableDriver is the driver of a file that nobody changes. It has one connection, no lock and no mark.
type immutableDriver struct{ driver }

func (d *immutableDriver) Committed(int64) {}

func (d *immutableDriver) Close() error { return d.writer.close() }

// check verifies everything in a snapshot. It returns the counts of what it has read, and the newest number of its log.
func (s *snapshot) check(ctx context.Context, progress func(parley.CheckReport)) (report parley.CheckReport, seq int64, err error) {
	c, err := openImmutable(s.path)
	if err != nil {
		return report, 0, explain(s.path, err)
	}
	err = errors.Join(checkPages(ctx, c, s.path, &report), c.close())
	if err == nil {
		err = store.Check(ctx, s, &report, progress)
	}
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return report, 0, err
	}
	err = s.View(ctx, func(tx storage.Tx) error {
		_, seq, err = tx.Log().Bounds()
		return err
	})
	return report, seq, err
}

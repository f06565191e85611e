package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"runtime"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// driver is the store.Driver of one open file.
type driver struct {
	path    string
	writing *sql.DB
	reading *sql.DB
	writer  *conn
	readers chan *conn
	opened  []*conn // all readers, lent or not
	mark    *mark
	lock    *lock
}

// Settings of every connection. FULL makes a commit wait for the disk; fullfsync does the same on
// macOS, where a plain fsync does not.
var pragmas = []string{
	"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)",
	"foreign_keys(1)", "temp_store(memory)", "trusted_schema(0)", "cell_size_check(1)",
}

func open(path string, more ...string) (*sql.DB, error) {
	settings := url.Values{"_pragma": append(more, pragmas...)}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String()+"?"+settings.Encode())
}

func connect(ctx context.Context, path string) (d *driver, err error) {
	d = &driver{path: path}
	defer func() {
		if err != nil {
			_ = d.closeConnections()
		}
	}()
	if d.writing, err = open(path, "cache_size(-65536)"); err != nil {
		return nil, err
	}
	if d.writer, err = newConn(ctx, d.writing); err != nil {
		return nil, err
	}
	if d.reading, err = open(path, "query_only(1)", "cache_size(-16384)"); err != nil {
		return nil, err
	}
	n := max(4, 2*runtime.GOMAXPROCS(0))
	d.reading.SetMaxOpenConns(n + 1) // one more for the check behind the start
	d.readers = make(chan *conn, n)
	for range n {
		reader, err := newConn(ctx, d.reading)
		if err != nil {
			return nil, err
		}
		d.opened = append(d.opened, reader)
		d.readers <- reader
	}
	return d, nil
}

func (d *driver) Writer() store.Conn { return d.writer }

func (d *driver) Reader(ctx context.Context) (store.Conn, error) {
	select {
	case c := <-d.readers:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *driver) GiveBack(c store.Conn) { d.readers <- c.(*conn) }

func (d *driver) Begin() string { return "BEGIN IMMEDIATE" }

func (d *driver) Committed(event int64) { d.mark.write(event) }

// Close moves everything from the write-ahead log into the database and closes it.
func (d *driver) Close() error {
	_, err := d.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, d.closeConnections(), d.mark.close(), d.lock.release())
}

func (d *driver) closeConnections() error {
	var errs []error
	for _, c := range d.opened {
		errs = append(errs, c.close())
	}
	if d.reading != nil {
		errs = append(errs, d.reading.Close())
	}
	if d.writer != nil {
		errs = append(errs, d.writer.close())
	}
	if d.writing != nil {
		errs = append(errs, d.writing.Close())
	}
	return errors.Join(errs...)
}

// Explain implements store.Driver.
func (d *driver) Explain(err error) error { return explain(d.path, err) }

func explain(path string, err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return parley.Errorf(parley.Internal, "the database failed: %w", err)
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return parley.Errorf(parley.Unavailable, "the disk is full, nothing was stored: %w", err).
			Because(parley.StorageFull).Retryable(0).Suggest("make room on the disk of %s and try again", path)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return parley.Errorf(parley.Unavailable, "another program has locked the database: %w", err).
			Retryable(0).Suggest("close what has %s open and try again", path)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return parley.Errorf(parley.Unavailable, "the database cannot be written: %w", err).
			Suggest("check the permissions of %s and its directory", path)
	case sqlite3.SQLITE_IOERR:
		return parley.Errorf(parley.Internal, "the disk failed: %w", err).
			Retryable(0).Suggest("check the disk of %s; what failed was not stored", path)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path, err)
	default:
		return parley.Errorf(parley.Internal, "the database failed: %w", err)
	}
}

// damaged is what is said of a file that cannot be trusted.
func damaged(path string, cause error) error {
	return parley.Errorf(parley.Internal, "the database %s is damaged: %w", path, cause).
		Suggest("stop the hub, keep the damaged file, and restore the newest backup")
}

func damagedf(path, format string, args ...any) error {
	return damaged(path, fmt.Errorf(format, args...))
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	modernc "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// readers is the largest number of snapshots that can be read at once.
const readers = 8

// driver is the store.Driver of one open file.
type driver struct {
	path    string
	writer  *conn
	readers *pool
	mark    *mark
	lock    *lock

	opened    time.Time
	firstTick int64 // where the lease clock begins: later than every tick that it gave before
}

// pool lends connections. It lends the connection that came back last first, because the cache of that connection is the warmest.
type pool struct {
	free chan struct{} // has one element for each connection that is not lent
	all  []*conn

	mu   sync.Mutex
	idle []*conn
}

func newPool(conns []*conn) *pool {
	p := &pool{free: make(chan struct{}, len(conns)), all: conns, idle: slices.Clone(conns)}
	for range conns {
		p.free <- struct{}{}
	}
	return p
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c, nil
}

func (p *pool) giveBack(c *conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	p.free <- struct{}{}
}

func connect(path string) (*driver, error) {
	// secure_delete overwrites erased content, so that redacted text does not remain in the file.
	writer, err := newConn(path, "cache_size=-65536", "wal_autocheckpoint=4000", "secure_delete=1")
	if err != nil {
		return nil, err
	}
	d := &driver{path: path, writer: writer, opened: time.Now()}
	var conns []*conn
	for i := range readers {
		cache := "cache_size=-4096"
		if i == readers-1 { // the pool lends this connection first, so a single reader always gets it
			cache = "cache_size=-65536"
		}
		reader, err := newConn(path, "query_only=1", cache)
		if err != nil {
			d.readers = newPool(conns)
			return nil, errors.Join(err, d.closeConnections())
		}
		conns = append(conns, reader)
	}
	d.readers = newPool(conns)
	if d.firstTick, err = nextTick(writer); err != nil {
		return nil, errors.Join(err, d.closeConnections())
	}
	return d, nil
}

const lastTimer = "SELECT coalesce(max(timer), 0) FROM deliveries WHERE timer IS NOT NULL"

// nextTick returns a tick after the end of every lease in the file, because leases end with the process that gave them.
func nextTick(c *conn) (tick int64, err error) {
	rows, err := c.Query(lastTimer)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&tick)
		return tick + 1, err
	}
	return 0, rows.Err()
}

func (d *driver) Writer() store.Conn { return d.writer }

func (d *driver) Reader(ctx context.Context) (store.Conn, error) {
	c, err := d.readers.take(ctx)
	if err != nil {
		return nil, err // returning c would be wrong: an interface that holds a nil pointer is not nil
	}
	return c, nil
}

func (d *driver) GiveBack(c store.Conn) { d.readers.giveBack(c.(*conn)) }

func (d *driver) Begin() string { return "BEGIN IMMEDIATE" }

func (d *driver) BeginView() string { return "BEGIN" }

// Locks implements store.Driver. It returns no locks, because there is only one writer.
func (d *driver) Locks() store.Locks { return store.Locks{} }

// LeaseNow implements store.Driver. It uses the monotonic clock, so that changes of the wall clock do not affect leases.
func (d *driver) LeaseNow(store.Conn) (int64, error) {
	return d.firstTick + time.Since(d.opened).Milliseconds(), nil
}

// Transient implements store.Driver. No error is transient: no other process uses the file, so another attempt would fail too.
func (d *driver) Transient(error) bool { return false }

// Settle implements store.Driver.
func (d *driver) Settle() (bool, error) { return false, store.Overwrite(d.writer, d.Begin()) }

func (d *driver) Text() store.TextIndex { return store.FTS5{} }

func (d *driver) Committed(seq int64) { d.mark.write(seq) }

// Close moves the content of the write-ahead log into the database and closes the database.
func (d *driver) Close() error {
	_, err := d.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		// Nothing is lost: the rest stays in the write-ahead log, and the next start reads it there.
		err = d.Explain(err)
	}
	return errors.Join(err, d.closeConnections(), d.mark.close(), d.lock.release())
}

func (d *driver) closeConnections() error {
	var errs []error
	for _, c := range d.readers.all {
		errs = append(errs, c.close())
	}
	return errors.Join(append(errs, d.writer.close())...)
}

// Explain implements store.Driver.
func (d *driver) Explain(err error) error { return explain(d.path, err) }

// explain turns an error of SQLite or of the disk into a *parley.Error with a hint. It returns nil for nil, and a *parley.Error
// as it is.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	switch resultCode(err) {
	case sqlite.ResultFull:
		return diskFull(path, err)
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return parley.Errorf(parley.Unavailable, "another program has locked the database: %w", err).
			Retryable(0).Suggest("close other programs that use %s and try again", path)
	case sqlite.ResultReadOnly, sqlite.ResultCantOpen, sqlite.ResultPerm:
		return parley.Errorf(parley.Unavailable, "cannot write to the database: %w", err).
			Suggest("check the permissions of %s and its directory", path)
	case sqlite.ResultIOErr:
		if extendedCode(err) == sqlite.ResultIOErrSHMSize {
			return diskFull(path, err) // there is no room for the index of the write-ahead log
		}
		return parley.Errorf(parley.Internal, "the disk failed: %w", err).
			Retryable(0).Suggest("check the disk of %s and try again", path)
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return damaged(path, err)
	default:
		return parley.Errorf(parley.Internal, "the database failed: %w", err)
	}
}

// diskFull returns the error for a full disk.
func diskFull(path string, cause error) error {
	return parley.Errorf(parley.Unavailable, "the disk is full, and nothing was stored").
		Because(parley.StorageFull).Retryable(0).Suggest("free space on the disk of %s, and try again", path).From(cause)
}

// resultCode returns the primary result code of an error, for both SQLite packages that this package uses.
func resultCode(err error) sqlite.ResultCode { return extendedCode(err).ToPrimary() }

// extendedCode returns the extended result code of an error.
func extendedCode(err error) sqlite.ResultCode {
	switch failure, ok := errors.AsType[*modernc.Error](err); {
	case ok:
		return sqlite.ResultCode(failure.Code())
	case errors.Is(err, syscall.ENOSPC):
		return sqlite.ResultFull
	default:
		return sqlite.ErrCode(err)
	}
}

// errDamaged is wrapped by every error about a damaged file.
var errDamaged = store.ErrCorrupt

// damaged returns the error for a damaged file.
func damaged(path string, cause error) error {
	return suggestRestore(parley.Errorf(parley.Internal, "the database %s %w: %w", path, errDamaged, cause))
}

func suggestRestore(e *parley.Error) *parley.Error {
	return e.Suggest("stop the hub, move parley.db, parley.db-wal, parley.db-shm, parley.mark, parley.head and parley.unchecked aside together, and restore the newest backup as parley.db")
}

func damagedf(path, format string, args ...any) error {
	return damaged(path, fmt.Errorf(format, args...))
}

package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-hub/parley/internal/store"
)

// readers is how many snapshots can be read at once.
const readers = 8

// settleTries is how often the fate of a commit is asked for while the connection is lost again.
const settleTries = 5

// driver is the store.Driver of one database.
type driver struct {
	dialer  *dialer
	writer  *conn
	readers *pool
}

func newDriver(d *dialer) *driver {
	return &driver{
		dialer:  d,
		writer:  newWriter(d.writer),
		readers: newPool(readers, func() *conn { return newReader(d.reader) }),
	}
}

func (d *driver) Writer() store.Conn { return d.writer }

func (d *driver) Reader(ctx context.Context) (store.Conn, error) {
	c, err := d.readers.take(ctx)
	if err != nil {
		return nil, err // not c: an interface that holds a nil pointer is not nil
	}
	return c, nil
}

func (d *driver) GiveBack(c store.Conn) { d.readers.giveBack(c.(*conn)) }

func (d *driver) Begin() string { return beginUpdate }

func (d *driver) BeginView() string { return beginView }

func (d *driver) Locks() store.Locks {
	return store.Locks{Wait: " FOR UPDATE OF d", Skip: " FOR UPDATE OF d SKIP LOCKED", Run: " FOR UPDATE OF r"}
}

// LeaseNow is the server's time: all hubs have the same.
func (d *driver) LeaseNow(c store.Conn) (now int64, err error) {
	found, err := c.Query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
	if err != nil {
		return 0, err
	}
	defer found.Close()
	if found.Next() {
		err = found.Scan(&now)
	}
	return now, errors.Join(err, found.Err())
}

func (d *driver) Text() store.TextIndex { return store.TSVector{} }

// Committed implements store.Driver: the server keeps its own account.
func (d *driver) Committed(int64) {}

func (d *driver) Explain(err error) error { return d.dialer.explain(err) }

func (d *driver) Transient(err error) bool {
	_, passes := errors.AsType[*transient](err)
	return passes
}

// Settle implements store.Driver.
func (d *driver) Settle() (committed bool, err error) {
	for range settleTries {
		if committed, err = d.writer.settle(); !d.Transient(err) {
			break
		}
	}
	return committed, err
}

// Close closes all connections. None is lent any more.
func (d *driver) Close() error { return errors.Join(d.readers.close(), d.writer.close()) }

// pool lends connections, at most so many at once. The one given back last is lent first, so that
// no more are opened than are used at once.
type pool struct {
	free chan struct{} // one for each that is not lent
	make func() *conn

	mu   sync.Mutex
	idle []*conn
}

func newPool(size int, make func() *conn) *pool {
	p := &pool{free: newTokens(size), make: make}
	return p
}

func newTokens(n int) chan struct{} {
	tokens := make(chan struct{}, n)
	for range n {
		tokens <- struct{}{}
	}
	return tokens
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return p.make(), nil
	}
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c, nil
}

// giveBack takes a connection back, unless it is broken: then another one is made when it is needed.
func (p *pool) giveBack(c *conn) {
	if c.idle() {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	} else {
		_ = c.close()
	}
	p.free <- struct{}{}
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-hub/parley/internal/store"
)

// readers is the largest number of snapshots that can be read at once.
const readers = 8

// settleAttempts is how often the driver asks what became of a commit, if the connection is lost each time.
const settleAttempts = 5

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
		return nil, err // returning c would be wrong: an interface that holds a nil pointer is not nil
	}
	return c, nil
}

func (d *driver) GiveBack(c store.Conn) { d.readers.giveBack(c.(*conn)) }

func (d *driver) Begin() string { return beginUpdate }

func (d *driver) BeginView() string { return beginView }

func (d *driver) Locks() store.Locks {
	return store.Locks{Wait: " FOR UPDATE OF d", Skip: " FOR UPDATE OF d SKIP LOCKED", Run: " FOR UPDATE OF r"}
}

// LeaseNow implements store.Driver. It returns the server's time, which is the same for all hubs.
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

// Committed implements store.Driver. It does nothing: the server guards its own log.
func (d *driver) Committed(int64) {}

func (d *driver) Explain(err error) error { return d.dialer.explain(err) }

func (d *driver) Transient(err error) bool {
	_, isTransient := errors.AsType[*transient](err)
	return isTransient
}

// Settle implements store.Driver.
func (d *driver) Settle() (committed bool, err error) {
	for range settleAttempts {
		if committed, err = d.writer.settle(); !d.Transient(err) {
			break
		}
	}
	return committed, err
}

// Close closes all connections. No caller may have a reader any more.
func (d *driver) Close() error { return errors.Join(d.readers.close(), d.writer.close()) }

// pool lends a limited number of connections. It lends the connection that came back last first, so that it opens no more
// connections than are used at once.
type pool struct {
	free chan struct{} // has one element for each connection that may still be lent
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

// giveBack takes a connection back. It closes a broken connection; take makes a new one when it needs one.
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

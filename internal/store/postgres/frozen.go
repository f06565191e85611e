package postgres

import (
	"context"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store"
)

// frozen is the store as one transaction sees it, which has exported its snapshot: what is checked
// through it is exactly what that transaction copies.
type frozen struct {
	*store.Store
	bodies *blobs
}

var _ storage.Store = (*frozen)(nil)

func (d *dialer) freeze(tx pgx.Tx, snapshot string) *frozen {
	return &frozen{
		Store:  store.New(&frozenDriver{newDriver(d), snapshot}),
		bodies: &blobs{reading: tx, explain: d.explain},
	}
}

// Blobs implements parley.Store. They can be read only.
func (f *frozen) Blobs() storage.Blobs { return f.bodies }

// frozenDriver lends connections whose views see one snapshot.
type frozenDriver struct {
	*driver
	snapshot string
}

func (d *frozenDriver) Reader(ctx context.Context) (store.Conn, error) {
	c, err := d.readers.take(ctx)
	if err != nil {
		return nil, err
	}
	return frozenConn{c, d.snapshot}, nil
}

func (d *frozenDriver) GiveBack(c store.Conn) { d.readers.giveBack(c.(frozenConn).conn) }

type frozenConn struct {
	*conn
	snapshot string
}

func (c frozenConn) Later(query string, args ...any) error {
	err := c.conn.Later(query, args...)
	if err == nil && query == beginView {
		err = c.conn.Later("SET TRANSACTION SNAPSHOT '" + c.snapshot + "'")
	}
	return err
}

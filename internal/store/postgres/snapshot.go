package postgres

import (
	"context"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store"
)

// snapshotStore is a store that reads the snapshot of a transaction. A backup checks its content through this store, and so
// checks exactly the rows that the transaction copies.
type snapshotStore struct {
	*store.Store
	bodies *blobs
}

var _ storage.Store = (*snapshotStore)(nil)

func (d *dialer) newSnapshotStore(tx pgx.Tx, snapshot string) *snapshotStore {
	return &snapshotStore{
		Store:  store.New(&snapshotDriver{newDriver(d), snapshot}),
		bodies: &blobs{reading: tx, explain: d.explain},
	}
}

// Blobs implements storage.Store. The bodies can only be read.
func (f *snapshotStore) Blobs() storage.Blobs { return f.bodies }

// snapshotDriver lends connections whose views all read one snapshot.
type snapshotDriver struct {
	*driver
	snapshot string
}

func (d *snapshotDriver) Reader(ctx context.Context) (store.Conn, error) {
	c, err := d.readers.take(ctx)
	if err != nil {
		return nil, err
	}
	return snapshotConn{c, d.snapshot}, nil
}

func (d *snapshotDriver) GiveBack(c store.Conn) { d.readers.giveBack(c.(snapshotConn).conn) }

type snapshotConn struct {
	*conn
	snapshot string
}

func (c snapshotConn) Later(query string, args ...any) error {
	err := c.conn.Later(query, args...)
	if err == nil && query == beginView {
		err = c.conn.Later("SET TRANSACTION SNAPSHOT '" + c.snapshot + "'")
	}
	return err
}

package postgres

import (
	"context"
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/store"
)

// DB is an open database: the store, and its connection to the server.
type DB struct {
	*store.Store
	dialer *dialer
	bodies *blobs
}

var _ storage.Store = (*DB)(nil)

// Open opens the database of a URL and brings its schema up to date. Several hubs may do so at once. The tables are in the
// first schema of the search path, which the URL can set. Open returns an error with a hint if the server cannot be reached, is
// too old or does not store UTF-8; if the user is not admitted or may not create tables; if the schema belongs to another
// program; and if the database needs a newer program.
func Open(ctx context.Context, url string) (*DB, error) {
	d, err := newDialer(url)
	if err != nil {
		return nil, err
	}
	if err := d.prepare(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, d.explain(err)
	}
	bodies, err := newBlobs(d)
	if err != nil {
		return nil, err
	}
	return &DB{Store: store.New(newDriver(d)), dialer: d, bodies: bodies}, nil
}

// Blobs implements storage.Store. The bodies are rows of a table.
func (db *DB) Blobs() storage.Blobs { return db.bodies }

// Close waits for accepted updates and closes all connections.
func (db *DB) Close() error {
	err := db.Store.Close()
	db.bodies.close()
	return err
}

// prepare checks the database and runs missing migrations.
func (d *dialer) prepare(ctx context.Context) (err error) {
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	found, err := inspect(ctx, c)
	if err != nil {
		return err
	}
	if err := found.check(d.name()); err != nil {
		return err
	}
	steps, err := programMigrations()
	if err != nil {
		return err
	}
	if found.version < steps.newest {
		if err := d.migrate(ctx, steps.files); err != nil {
			return err
		}
	}
	return deleteOldCommits(ctx, c)
}

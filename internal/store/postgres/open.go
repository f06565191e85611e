package postgres

import (
	"context"
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/store"
)

// DB is an open database: the store on it, and what can be asked of a server only.
type DB struct {
	*store.Store
	dialer *dialer
	bodies *blobs
}

var _ storage.Store = (*DB)(nil)

// Open opens a database by its URL and brings its schema up to date. Several hubs may do so at once.
// The tables are in the first schema of the search path, which the URL can set. It refuses, with a
// sentence that says what to do: a server that cannot be reached, is too old or does not store UTF-8, a
// user that is not let in or may not create tables, a schema that is another program's, and a database
// made for newer programs only.
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

// Blobs implements parley.Store: bodies are rows.
func (db *DB) Blobs() storage.Blobs { return db.bodies }

// Close runs what has begun and closes all connections.
func (db *DB) Close() error {
	err := db.Store.Close()
	db.bodies.close()
	return err
}

// prepare looks at the database and migrates it if that is due.
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
	steps, err := migrations()
	if err != nil {
		return err
	}
	if found.version < steps.newest {
		if err := d.migrate(ctx, steps.files); err != nil {
			return err
		}
	}
	return forgetWriters(ctx, c)
}

package postgres

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store"
)

// Measure makes m count the statements and round trips of the database from now on, except those that move the bodies of
// artifacts. Call it before the first use of the database.
func (db *DB) Measure(m *store.Meter) {
	config, dial := db.dialer.config, db.dialer.config.DialFunc
	config.Tracer = statementTracer{m}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &measuredConn{Conn: c, meter: m}, nil
	}
}

// statementTracer counts the statements of batches. The store sends all its statements in batches.
type statementTracer struct{ meter *store.Meter }

var (
	_ pgx.QueryTracer = statementTracer{}
	_ pgx.BatchTracer = statementTracer{}
)

func (statementTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (t statementTracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, done pgx.TraceBatchQueryData) {
	t.meter.Statement(done.SQL, done.CommandTag.RowsAffected())
}

func (statementTracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart implements pgx.QueryTracer. It counts nothing: statements outside of batches only prepare new connections.
func (statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (statementTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// measuredConn counts a round trip for the first read after each write.
type measuredConn struct {
	net.Conn
	meter *store.Meter
	wrote atomic.Bool // a write has happened since the last read
}

func (c *measuredConn) Write(b []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(b)
}

func (c *measuredConn) Read(b []byte) (int, error) {
	if c.wrote.Swap(false) {
		c.meter.Trip()
	}
	return c.Conn.Read(b)
}

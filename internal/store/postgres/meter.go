package postgres

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store"
)

// Measure counts the statements and round trips of the database from now on, except those that move the bodies of
// artifacts. It is called before the database is used.
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

// TraceQueryStart counts nothing: a statement outside of batches sets a new connection up.
func (statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (statementTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// measuredConn counts a round trip for each first read after a write.
type measuredConn struct {
	net.Conn
	meter *store.Meter
	asked atomic.Bool // something was written since the last read
}

func (c *measuredConn) Write(b []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(b)
}

func (c *measuredConn) Read(b []byte) (int, error) {
	if c.asked.Swap(false) {
		c.meter.Trip()
	}
	return c.Conn.Read(b)
}

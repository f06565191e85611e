package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/parley-hub/parley"
)

const (
	chunkSize = 512 << 10
	bodyConns = 4

	// bodyLock is the first number of an advisory lock on a digest. The second number is the first four bytes of the digest.
	bodyLock = 1348563566
)

// blobs is a storage.Blobs that keeps bodies in the rows of a table. Put first writes a body to a temporary file, because the
// digest is known only at the end, and then writes the rows in one short transaction. A caller that changes a body keeps a
// connection while it waits for the body's lock. Therefore reads have a connection pool of their own.
type blobs struct {
	writing *pgxpool.Pool
	reading querier
	explain func(error) error
	close   func()
}

// querier is a connection pool, or a transaction with the snapshot to read.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

var _ storage.Blobs = (*blobs)(nil)

func newBlobs(d *dialer) (*blobs, error) {
	changing, err := newBodyPool(d)
	if err != nil {
		return nil, err
	}
	reading, err := newBodyPool(d)
	if err != nil {
		changing.Close()
		return nil, err
	}
	closeBoth := func() {
		changing.Close()
		reading.Close()
	}
	return &blobs{changing, reading, d.explain, closeBoth}, nil
}

// newBodyPool returns a pool that connects when it is first used.
func newBodyPool(d *dialer) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.ConnConfig = d.config.Copy()
	config.MaxConns = bodyConns
	return pgxpool.NewWithConfig(context.Background(), config)
}

// Put implements storage.Blobs.
func (b *blobs) Put(ctx context.Context, r io.Reader, limit int64, keep func(string, int64) error) error {
	spooled, err := spool(ctx, r, limit)
	if err != nil {
		return err
	}
	defer func() { _ = spooled.close() }()
	return b.withLock(ctx, spooled.digest, func(c *pgxpool.Conn) error {
		if err := b.store(ctx, c, spooled); err != nil {
			return err
		}
		return keep(hex.EncodeToString(spooled.digest), spooled.size)
	})
}

// store writes a body, unless the database already has it in full.
func (b *blobs) store(ctx context.Context, c *pgxpool.Conn, body *spooled) error {
	whole, err := isStored(ctx, c, body)
	if err != nil || whole {
		return b.explain(err)
	}
	return b.explain(pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM artifact_chunks WHERE sha256 = $1", body.digest); err != nil {
			return err
		}
		return body.eachChunk(func(n int, data []byte) error {
			_, err := tx.Exec(ctx, "INSERT INTO artifact_chunks (sha256, n, data) VALUES ($1, $2, $3)", body.digest, n, data)
			return err
		})
	}))
}

// isStored reports whether the database has exactly the parts of a body. The server computes the digests of the parts that it
// has, so that it need not send them.
func isStored(ctx context.Context, c *pgxpool.Conn, body *spooled) (bool, error) {
	rows, err := c.Query(ctx, "SELECT n, sha256(data) FROM artifact_chunks WHERE sha256 = $1 ORDER BY n", body.digest)
	if err != nil {
		return false, err
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		N      int
		Digest []byte
	}])
	if err != nil || len(parts) != len(body.parts) {
		return false, err
	}
	for i, part := range parts {
		if part.N != i || !bytes.Equal(part.Digest, body.parts[i][:]) {
			return false, nil
		}
	}
	return true, nil
}

// withLock runs fn with the lock of a body. No other call, in this hub or another, can put or remove the body meanwhile.
func (b *blobs) withLock(ctx context.Context, digest []byte, fn func(*pgxpool.Conn) error) error {
	c, err := b.writing.Acquire(ctx)
	if err != nil {
		return b.explainUnlessCanceled(ctx, err)
	}
	defer c.Release()
	lockKey := int32(binary.BigEndian.Uint32(digest))
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1, $2)", bodyLock, lockKey); err != nil {
		return b.explainUnlessCanceled(ctx, err)
	}
	err = fn(c)
	// If the unlock fails, closing the connection gives the lock up.
	_, unlockErr := c.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1, $2)", bodyLock, lockKey)
	if unlockErr != nil {
		_ = c.Conn().Close(context.WithoutCancel(ctx))
	}
	return err
}

// Open implements storage.Blobs. The reader reads each part in a query of its own, so that a slow reader keeps no connection.
func (b *blobs) Open(ctx context.Context, digest string) (io.ReadCloser, int64, error) {
	raw, ok := parseDigest(digest)
	if !ok {
		return nil, 0, parley.ErrNotFound
	}
	var parts, size int64
	err := b.reading.QueryRow(ctx, "SELECT count(*), coalesce(sum(octet_length(data)), 0)::bigint FROM artifact_chunks WHERE sha256 = $1", raw).
		Scan(&parts, &size)
	if err != nil {
		return nil, 0, b.explainUnlessCanceled(ctx, err)
	}
	if parts == 0 {
		return nil, 0, parley.ErrNotFound
	}
	return parley.Verified(&body{ctx: ctx, blobs: b, digest: raw, parts: parts}, digest), size, nil
}

// Remove implements storage.Blobs.
func (b *blobs) Remove(ctx context.Context, digest string, unneeded func() (bool, error)) error {
	raw, ok := parseDigest(digest)
	if !ok {
		return nil
	}
	return b.withLock(ctx, raw, func(c *pgxpool.Conn) error {
		if yes, err := unneeded(); err != nil || !yes {
			return err
		}
		_, err := c.Exec(ctx, "DELETE FROM artifact_chunks WHERE sha256 = $1", raw)
		return b.explainUnlessCanceled(ctx, err)
	})
}

// List implements storage.Blobs.
func (b *blobs) List(ctx context.Context, after string, limit int) ([]string, error) {
	raw, _ := parseDigest(after)
	rows, err := b.reading.Query(ctx, `SELECT encode(sha256, 'hex') FROM artifact_chunks
		WHERE n = 0 AND sha256 > $1 ORDER BY sha256 LIMIT $2`, raw, limit)
	if err != nil {
		return nil, b.explainUnlessCanceled(ctx, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return list, b.explainUnlessCanceled(ctx, err)
}

// explainUnlessCanceled returns the error of ctx if ctx has ended, and otherwise explains err.
func (b *blobs) explainUnlessCanceled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return b.explain(err)
}

// parseDigest returns the bytes of a digest in hexadecimal digits. For other strings it returns false, and an empty slice,
// which sorts before every digest.
func parseDigest(digest string) ([]byte, bool) {
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != digest {
		return []byte{}, false
	}
	return raw, true
}

// body reads the parts of a body one after the other.
type body struct {
	ctx    context.Context
	blobs  *blobs
	digest []byte
	next   int64
	parts  int64
	part   []byte
}

func (r *body) Read(p []byte) (int, error) {
	for len(r.part) == 0 {
		if r.next == r.parts {
			return 0, io.EOF
		}
		err := r.blobs.reading.QueryRow(r.ctx, "SELECT data FROM artifact_chunks WHERE sha256 = $1 AND n = $2", r.digest, r.next).
			Scan(&r.part)
		if errors.Is(err, pgx.ErrNoRows) { // the row is lost, or was removed since Open
			return 0, parley.ErrDamaged
		}
		if err != nil {
			return 0, r.blobs.explainUnlessCanceled(r.ctx, err)
		}
		r.next++
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}

func (r *body) Close() error { return nil }

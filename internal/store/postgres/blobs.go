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

	// bodyLock is the first number of the locks on digests; the second is where the digest begins.
	bodyLock = 1348563566
)

// blobs is a parley.Blobs in the rows of a table. A body is spooled to a temporary file, because its
// digest is known at its end only, and then written in one short transaction. Who changes a body may
// have to wait for another, with a connection in hand; so those who read have connections of their own.
type blobs struct {
	changing *pgxpool.Pool
	reading  querier
	explain  func(error) error
	close    func()
}

// querier is a pool, or a transaction whose snapshot is to be read.
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

// newBodyPool makes a pool that connects when it is first used.
func newBodyPool(d *dialer) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.ConnConfig = d.config.Copy()
	config.MaxConns = bodyConns
	return pgxpool.NewWithConfig(context.Background(), config)
}

// Put implements parley.Blobs.
func (b *blobs) Put(ctx context.Context, r io.Reader, limit int64, keep func(string, int64) error) error {
	spooled, err := spool(ctx, r, limit)
	if err != nil {
		return err
	}
	defer func() { _ = spooled.close() }()
	return b.locked(ctx, spooled.digest, func(c *pgxpool.Conn) error {
		if err := b.store(ctx, c, spooled); err != nil {
			return err
		}
		return keep(hex.EncodeToString(spooled.digest), spooled.size)
	})
}

// store writes a body, unless it is there and whole.
func (b *blobs) store(ctx context.Context, c *pgxpool.Conn, body *spooled) error {
	whole, err := stored(ctx, c, body)
	if err != nil || whole {
		return b.explain(err)
	}
	return b.explain(pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM artifact_chunks WHERE sha256 = $1", body.digest); err != nil {
			return err
		}
		return body.each(func(n int, data []byte) error {
			_, err := tx.Exec(ctx, "INSERT INTO artifact_chunks (sha256, n, data) VALUES ($1, $2, $3)", body.digest, n, data)
			return err
		})
	}))
}

// stored says whether the server has exactly these parts. It compares their digests, not the parts.
func stored(ctx context.Context, c *pgxpool.Conn, body *spooled) (bool, error) {
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

// locked runs fn while nobody else puts or removes the same body, in this hub or another.
func (b *blobs) locked(ctx context.Context, digest []byte, fn func(*pgxpool.Conn) error) error {
	c, err := b.changing.Acquire(ctx)
	if err != nil {
		return b.failed(ctx, err)
	}
	defer c.Release()
	begin := int32(binary.BigEndian.Uint32(digest))
	if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1, $2)", bodyLock, begin); err != nil {
		return b.failed(ctx, err)
	}
	err = fn(c)
	// Where this fails the lock goes with the connection.
	_, unlocking := c.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1, $2)", bodyLock, begin)
	if unlocking != nil {
		_ = c.Conn().Close(context.WithoutCancel(ctx))
	}
	return err
}

// Open implements parley.Blobs. Each part is read by itself, so that a slow reader keeps no connection.
func (b *blobs) Open(ctx context.Context, digest string) (io.ReadCloser, int64, error) {
	raw, ok := rawDigest(digest)
	if !ok {
		return nil, 0, parley.ErrNotFound
	}
	var parts, size int64
	err := b.reading.QueryRow(ctx, "SELECT count(*), coalesce(sum(octet_length(data)), 0)::bigint FROM artifact_chunks WHERE sha256 = $1", raw).
		Scan(&parts, &size)
	if err != nil {
		return nil, 0, b.failed(ctx, err)
	}
	if parts == 0 {
		return nil, 0, parley.ErrNotFound
	}
	return parley.Verified(&body{ctx: ctx, blobs: b, digest: raw, parts: parts}, digest), size, nil
}

// Remove implements parley.Blobs.
func (b *blobs) Remove(ctx context.Context, digest string, unneeded func() (bool, error)) error {
	raw, ok := rawDigest(digest)
	if !ok {
		return nil
	}
	return b.locked(ctx, raw, func(c *pgxpool.Conn) error {
		if yes, err := unneeded(); err != nil || !yes {
			return err
		}
		_, err := c.Exec(ctx, "DELETE FROM artifact_chunks WHERE sha256 = $1", raw)
		return b.failed(ctx, err)
	})
}

// List implements parley.Blobs.
func (b *blobs) List(ctx context.Context, after string, limit int) ([]string, error) {
	raw, _ := rawDigest(after)
	rows, err := b.reading.Query(ctx, `SELECT encode(sha256, 'hex') FROM artifact_chunks
		WHERE n = 0 AND sha256 > $1 ORDER BY sha256 LIMIT $2`, raw, limit)
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return list, b.failed(ctx, err)
}

// failed explains an error, but for that of the caller's context.
func (b *blobs) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return b.explain(err)
}

// rawDigest is a digest as bytes. What is none is before all others.
func rawDigest(digest string) ([]byte, bool) {
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
		if errors.Is(err, pgx.ErrNoRows) { // lost, or removed meanwhile
			return 0, parley.ErrDamaged
		}
		if err != nil {
			return 0, r.blobs.failed(r.ctx, err)
		}
		r.next++
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}

func (r *body) Close() error { return nil }

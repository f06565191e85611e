package parley

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
)

// verifiedChunk is how many bytes a verifying reader reads at once and holds back.
const verifiedChunk = 32 << 10

// Verified returns a reader that verifies the digest of a body. If the digest is wrong, the reader returns ErrDamaged instead of
// io.EOF. It returns the last bytes, up to 64 KiB, only after it has verified the digest. So nobody can read the whole of a
// damaged body.
func Verified(body io.ReadCloser, digest string) io.ReadCloser {
	return &verifyingReader{ReadCloser: body, want: digest, sum: sha256.New()}
}

type verifyingReader struct {
	io.ReadCloser
	want string
	sum  hash.Hash

	ready []byte // the bytes that Read may return
	held  []byte // the last chunk, held back until the next one is read
	spare []byte // a buffer to reuse
	err   error  // the error that Read returns after the ready bytes
}

func (v *verifyingReader) Read(p []byte) (int, error) {
	for len(v.ready) == 0 && v.err == nil {
		v.advance()
	}
	if len(v.ready) == 0 {
		return 0, v.err
	}
	n := copy(p, v.ready)
	v.ready = v.ready[n:]
	return n, nil
}

// advance reads the next chunk, and makes the one before it ready.
func (v *verifyingReader) advance() {
	if cap(v.spare) < verifiedChunk {
		v.spare = make([]byte, verifiedChunk)
	}
	next := v.spare[:verifiedChunk]
	n, err := io.ReadFull(v.ReadCloser, next)
	v.sum.Write(next[:n])
	switch {
	case err == nil:
		v.ready, v.spare, v.held = v.held, v.held[:0], next
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		v.err = err
	case hex.EncodeToString(v.sum.Sum(nil)) != v.want:
		v.err = ErrDamaged
	default:
		v.ready, v.err = slices.Concat(v.held, next[:n]), io.EOF
	}
}

// UntilDone returns a reader that reads from r until ctx is done, and then returns the error of ctx.
func UntilDone(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

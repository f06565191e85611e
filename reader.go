package parley

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// Verified reads a body that must have a digest: where it ends and has another, ErrDamaged comes
// instead of io.EOF.
func Verified(body io.ReadCloser, digest string) io.ReadCloser {
	return &verified{ReadCloser: body, want: digest, sum: sha256.New()}
}

type verified struct {
	io.ReadCloser
	want string
	sum  hash.Hash
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		err = ErrDamaged
	}
	return n, err
}

// UntilDone reads from r until ctx is done, and then returns its error.
func UntilDone(ctx context.Context, r io.Reader) io.Reader { return untilDone{ctx, r} }

type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

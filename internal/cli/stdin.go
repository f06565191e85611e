package cli

import (
	"context"
	"io"
)

// stdin is standard input until ctx is done. A terminal on which nobody types holds nobody up.
func (a *app) stdin(ctx context.Context) io.Reader { return contextReader{ctx, a.in} }

// contextReader reads until a context is done, and then returns why. What was being read at that moment is lost.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (t contextReader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	own := make([]byte, len(p)) // p is the caller's again when this returns
	go func() {
		n, err := t.r.Read(own)
		read <- result{n, err}
	}()
	select {
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	case <-t.ctx.Done():
		return 0, context.Cause(t.ctx)
	}
}

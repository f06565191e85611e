package cli

import (
	"context"
	"io"
)

// stdin returns standard input until ctx is done, so that a terminal on which nobody types does not block the command.
func (a *app) stdin(ctx context.Context) io.Reader { return contextReader{ctx, a.in} }

// contextReader reads until a context is done, and then returns its cause. It loses what it was reading at that moment.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	own := make([]byte, len(p)) // after the return, p belongs to the caller again
	go func() {
		n, err := r.r.Read(own)
		read <- result{n, err}
	}()
	select {
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

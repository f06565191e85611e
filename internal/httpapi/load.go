package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// underway is what a call counts as while it is under way.
type underway struct {
	mu  sync.Mutex
	now *hub.Underway // nil: it does not count
}

// begin counts a call whose caller is known. Before it, nothing of a request's body has been read.
func (c *call) begin(ctx context.Context, op Operation) (err error) {
	c.underway = &underway{}
	if op.Who == hub.Anyone {
		return nil
	}
	return c.becomes(ctx, op.Work)
}

// becomes counts a call as another sort from here on.
func (c *call) becomes(ctx context.Context, work hub.Work) error {
	c.underway.end()
	begun, err := c.hub.Begin(ctx, c.caller, work)
	if err == nil {
		c.caller = begun.Caller
		c.underway.mu.Lock()
		c.underway.now = &begun
		c.underway.mu.Unlock()
	}
	return err
}

// found says that only the answer is left to send.
func (u *underway) found() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now != nil {
		u.now.Found()
	}
}

func (u *underway) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now != nil {
		u.now.End()
	}
	u.now = nil
}

// whileWaiting counts a call that waits. Such a call does not count as reading or changing, so waiting callers leave room for
// other calls.
func whileWaiting[T any](ctx context.Context, c call, do func(context.Context) (T, error)) (out T, err error) {
	if err := c.becomes(ctx, hub.Waiting); err != nil {
		return out, err
	}
	return whileValid(ctx, c, do)
}

const (
	sendPart = 64 << 10         // bytes of an answer in memory before they are sent
	sendPace = 20 * time.Second // in which a reader must take what it is sent at once
	bodyPart = 256 << 10        // bytes of an artifact that its sender must send
	bodyPace = 20 * time.Second // in this time
)

// body is the body of an artifact, which must come at a minimum pace.
type body struct {
	io.ReadCloser
	ctx     context.Context
	control *http.ResponseController
	left    int // bytes until the time begins anew
}

func newBody(ctx context.Context, w http.ResponseWriter, r io.ReadCloser) *body {
	return &body{ReadCloser: r, ctx: ctx, control: http.NewResponseController(w)}
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left = bodyPart
		_ = b.control.SetReadDeadline(time.Now().Add(bodyPace)) // only a real connection has one
		if b.ctx.Err() != nil {
			_ = b.control.SetReadDeadline(time.Now())
		}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if errors.Is(err, os.ErrDeadlineExceeded) { // or the call was ended otherwise, which held says
		err = parley.Errorf(parley.TimedOut, "the body came too slowly: less than %d KiB in %s", bodyPart>>10, bodyPace).
			Suggest("send it again when the network is faster")
	}
	return n, err
}

// chunkWriter sends an answer piece by piece, so that a large one is never in memory as a whole. A small answer is sent in one
// piece.
type chunkWriter struct {
	w      http.ResponseWriter
	status int
	buffer []byte
	begun  bool
	failed bool // nobody reads any more
}

func (p *chunkWriter) Write(data []byte) (int, error) {
	if len(p.buffer)+len(data) < sendPart {
		p.buffer = append(p.buffer, data...)
		return len(data), nil
	}
	p.flush()
	p.send(data)
	return len(data), nil
}

// flush sends what is held.
func (p *chunkWriter) flush() {
	p.send(p.buffer)
	p.buffer = p.buffer[:0]
}

func (p *chunkWriter) send(data []byte) {
	if !p.begun {
		p.begun = true
		p.w.WriteHeader(p.status)
	} else {
		_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(sendPace)) // only a real connection has one
	}
	if p.failed || len(data) == 0 {
		return
	}
	_, err := p.w.Write(data)
	p.failed = err != nil
}

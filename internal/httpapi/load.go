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

// underway is the slot of the hub that a call occupies until it ends.
type underway struct {
	mu     sync.Mutex
	now    *hub.Underway   // nil: the call occupies none, or shares it
	shared *hub.SharedSlot // nil: the call does not share it
}

// begin counts a call in the hub's load, once its caller is known and before its body is read.
func (c *call) begin(ctx context.Context, op *Operation) (err error) {
	c.underway = &underway{}
	if op.Who == hub.Anyone {
		return nil
	}
	return c.countAs(ctx, op.Work)
}

// countAs counts a call as another sort of work from now on.
func (c *call) countAs(ctx context.Context, work hub.CallKind) error {
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

// workDone tells the hub that only the answer is left to send.
func (u *underway) workDone() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now != nil {
		u.now.Found()
	}
}

// share returns the slot of the call for what waits in the call, or nil if the call occupies none.
func (u *underway) share() *hub.SharedSlot {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now == nil {
		return nil
	}
	u.shared, u.now = hub.ShareSlot(*u.now), nil
	return u.shared
}

func (u *underway) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now != nil {
		u.now.End()
	}
	if u.shared != nil {
		u.shared.End()
	}
	u.now, u.shared = nil, nil
}

// whileWaiting counts a call that waits. Such a call does not count as reading or changing, so waiting callers leave room for
// other calls.
func whileWaiting[T any](ctx context.Context, c *call, do func(context.Context) (T, error)) (out T, err error) {
	if err := c.countAs(ctx, hub.Waiting); err != nil {
		return out, err
	}
	return whileValid(ctx, c, do)
}

const (
	maxBuffered  = 64 << 10         // bytes of an answer to collect before they are sent
	sendPartTime = 20 * time.Second // how long a reader may take to read one write
	bodyPartSize = 256 << 10        // how many bytes of an artifact its sender must send within bodyPartTime
	bodyPartTime = 20 * time.Second
)

// artifactBody is the body of an artifact in a request. It must arrive at a minimum speed.
type artifactBody struct {
	io.ReadCloser
	ctx     context.Context
	control *http.ResponseController
	left    int // bytes to read until the time limit is set again
}

func newArtifactBody(ctx context.Context, w http.ResponseWriter, r io.ReadCloser) *artifactBody {
	return &artifactBody{ReadCloser: r, ctx: ctx, control: http.NewResponseController(w)}
}

func (b *artifactBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left = bodyPartSize
		_ = b.control.SetReadDeadline(time.Now().Add(bodyPartTime)) // only a real connection has one
		if b.ctx.Err() != nil {
			_ = b.control.SetReadDeadline(time.Now())
		}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if errors.Is(err, os.ErrDeadlineExceeded) { // if the call ended for another reason, whileValid returns that reason
		err = parley.Errorf(parley.TimedOut, "the body arrived too slowly: less than %d KiB in %s", bodyPartSize>>10, bodyPartTime).
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
	failed bool // the reader has disconnected
}

func (p *chunkWriter) Write(data []byte) (int, error) {
	if len(p.buffer)+len(data) < maxBuffered {
		p.buffer = append(p.buffer, data...)
		return len(data), nil
	}
	p.flush()
	p.send(data)
	return len(data), nil
}

// flush sends the buffer.
func (p *chunkWriter) flush() {
	p.send(p.buffer)
	p.buffer = p.buffer[:0]
}

func (p *chunkWriter) send(data []byte) {
	if !p.begun {
		p.begun = true
		p.w.WriteHeader(p.status)
	} else {
		_ = http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(sendPartTime)) // only a real connection has one
	}
	if p.failed || len(data) == 0 {
		return
	}
	_, err := p.w.Write(data)
	p.failed = err != nil
}

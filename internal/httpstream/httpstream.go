// Package httpstream answers long requests outside the HTTP server of the standard library. That server keeps the goroutine, the stack and
// the buffers of a request until its answer ends, which is about 30 KiB for a stream that sends nothing. Here a stream keeps its
// connection and two small goroutines.
//
// Only HTTP/1.1 allows this. A request by another version is answered as usual.
package httpstream

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

const (
	maxBody  = 64 << 10 // of a request; one with a larger body is answered by the HTTP server
	bodyTime = 20 * time.Second
	// maxUnread is how much a client may send after its request. It has no reason to send anything.
	maxUnread = 1 << 10
)

// Streams are the open streams of a server. It is safe for concurrent use.
type Streams struct {
	log *slog.Logger

	mu     sync.Mutex
	open   map[*response]struct{}
	closed bool
	ended  sync.WaitGroup
}

// New returns an empty set of streams.
func New(log *slog.Logger) *Streams { return &Streams{log: log, open: map[*response]struct{}{}} }

// Handler returns a handler that answers streams outside the HTTP server. It has next answer all requests. isStream says which
// requests are for a stream.
func (s *Streams) Handler(next http.Handler, isStream func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && r.ProtoMinor == 1 && isStream(r) && s.takeOver(w, r, next) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// takeOver takes the connection of a request from the HTTP server, and has next answer the request. It returns false if it cannot.
func (s *Streams) takeOver(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	if r.Method == http.MethodHead || r.Header.Get("Expect") != "" || r.ContentLength < 0 || r.ContentLength > maxBody || !s.begin() {
		return false
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // only a real connection has one
	body, err := io.ReadAll(r.Body)
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		s.ended.Done()
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	conn, unread, err := control.Hijack()
	if err != nil {
		s.ended.Done()
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // the server ends the request's context when this handler returns
	out := &response{conn: conn, header: http.Header{}, cancel: cancel}
	s.mu.Lock()
	s.open[out] = struct{}{}
	s.mu.Unlock()
	go out.noticeEnd(unread.Reader.Buffered())
	go s.answer(out, r.WithContext(ctx), next)
	return true
}

// begin notes a stream, unless the streams are being ended.
func (s *Streams) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.ended.Add(1)
	}
	return !s.closed
}

// failing is a body whose rest cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// answer answers a request whose connection belongs to the stream.
func (s *Streams) answer(out *response, r *http.Request, next http.Handler) {
	complete := false
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // net/http panics with this very value
			s.log.Error("a request handler panicked; the connection of its client is closed", "cause", cause, "stack", string(debug.Stack()))
		}
		out.end(complete)
		s.mu.Lock()
		delete(s.open, out)
		s.mu.Unlock()
		s.ended.Done()
	}()
	next.ServeHTTP(out, r)
	complete = true
}

// Shutdown waits until all streams have ended. When ctx ends, it closes the connections of the rest, and returns the error of ctx.
// The HTTP server answers streams that begin later.
func (s *Streams) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.ended.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for out := range s.open {
		out.cancel()
		_ = out.conn.Close() // its handler notices
	}
	s.mu.Unlock()
	return ctx.Err()
}

// noticeEnd ends the request when its client has left.
func (w *response) noticeEnd(unread int) {
	defer w.cancel()
	var next [1]byte
	for ; unread <= maxUnread; unread++ {
		if _, err := w.conn.Read(next[:]); err != nil {
			return
		}
	}
}

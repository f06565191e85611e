package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Sessions returns the live client sessions of all participants, the oldest first.
func (c *Client) Sessions(ctx context.Context) ([]parley.Session, error) {
	page, err := fetch[Page[parley.Session]](ctx, c, nil, "sessions")
	return page.Items, err
}

// AckSession acknowledges messages that a client session of the caller holds.
func (c *Client) AckSession(ctx context.Context, key string, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "ack", struct {
		Session  string   `json:"session"`
		Messages []string `json:"messages"`
	}{key, messages})
}

// SettleSession ends everything that a client session of the caller has taken: as answered by a message, as failed, or as
// acknowledged.
func (c *Client) SettleSession(ctx context.Context, key string, outcome parley.Outcome) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "settle", settlement{Session: key}.with(outcome))
}

// OpenSession opens a connection of a client session of the caller. ctx limits the opening only. When the connection breaks, the stream
// connects again, as long as the hub can be reached again: see Session.Next.
func (c *Client) OpenSession(ctx context.Context, n parley.NewSession) (*SessionStream, error) {
	s := &SessionStream{client: c, request: n, signs: make(chan parley.SessionSign, 1), failed: make(chan struct{}), closed: make(chan struct{})}
	living, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	opened := make(chan error, 1)
	s.loop.Go(func() { s.follow(living, opened) })
	select {
	case err := <-opened:
		if err != nil {
			cancel()
			s.loop.Wait()
			return nil, err
		}
		return s, nil
	case <-ctx.Done():
		cancel()
		s.loop.Wait()
		return nil, context.Cause(ctx)
	}
}

// SessionStream is an open connection of a client session. It implements parley.SessionStream.
type SessionStream struct {
	client  *Client
	request parley.NewSession
	cancel  context.CancelFunc
	loop    sync.WaitGroup
	session parley.Session
	signs   chan parley.SessionSign // the newest one that Next has not returned

	failed chan struct{} // closed when the stream has ended for good
	err    error         // why; set before failed is closed

	closed    chan struct{}
	closeOnce sync.Once
}

// Session returns the session as it was when the connection was opened.
func (s *SessionStream) Session() parley.Session { return s.session }

// Next waits for the next sign. A connection that breaks is opened again, with growing pauses, so that a restart of the hub is no
// error. Next returns the errors of parley.SessionStream.
func (s *SessionStream) Next(ctx context.Context) (parley.SessionSign, error) {
	select {
	case sign := <-s.signs:
		return sign, nil
	case <-s.closed:
		return parley.SessionSign{}, parley.Errorf(parley.BadInput, "the connection of the session %s is closed", s.request.Key).
			Because(parley.Gone).Suggest("open it again")
	case <-s.failed:
		return parley.SessionSign{}, s.err
	case <-ctx.Done():
		return parley.SessionSign{}, context.Cause(ctx)
	}
}

// Close closes the connection, and waits until the hub can see that.
func (s *SessionStream) Close() error {
	s.closeOnce.Do(func() {
		close(s.closed)
		s.cancel()
		s.loop.Wait()
	})
	return nil
}

// follow keeps a connection open until ctx is done or an error lasts. It reports the outcome of the first attempt.
func (s *SessionStream) follow(ctx context.Context, opened chan<- error) {
	pause, begun := shortPause, false
	report := func(err error) {
		if !begun {
			begun = err == nil
			opened <- err
		}
	}
	for {
		err := s.connect(ctx, func() {
			pause = shortPause
			report(nil)
		})
		if ctx.Err() != nil {
			return
		}
		if !begun || !isTemporary(err) {
			report(err)
			s.err = err
			close(s.failed)
			return
		}
		select {
		case <-time.After(max(rand.N(pause)+pause/2, parley.AsError(err).RetryAfter)):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longPause/5) // shorter than the grace of a session, which a restart of the hub must not end
	}
}

// connect reads one connection to its end, and returns the error that ended it. It calls begun when the session is open.
func (s *SessionStream) connect(ctx context.Context, begun func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, err := encode(s.request)
	if err != nil {
		return err
	}
	body, err := s.client.open(ctx, request{method: http.MethodPost, body: in}, "sessions")
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	watch := time.AfterFunc(maxSilence, cancel)
	defer watch.Stop()
	lines := bufio.NewScanner(body)
	var b eventBlock
	for lines.Scan() {
		watch.Reset(maxSilence)
		if b.add(lines.Text()) {
			continue
		}
		if err := s.read(b, begun); err != nil {
			return err
		}
		b = eventBlock{}
	}
	err = errors.Join(lines.Err(), io.ErrUnexpectedEOF)
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	return s.client.connectionError(err)
}

// read handles one event of the stream.
func (s *SessionStream) read(b eventBlock, begun func()) error {
	var into any
	var sign parley.SessionSign
	switch b.kind {
	case "session":
		var again parley.Session
		if into = &again; s.session.Key == "" { // Session returns the first one
			into = &s.session
		}
	case "sign":
		into = &sign
	default:
		return nil
	}
	if err := json.Unmarshal([]byte(b.data), into); err != nil {
		return s.client.notAHub("an event that is not JSON").From(err)
	}
	if b.kind == "session" {
		begun()
		return nil
	}
	select { // only the newest sign counts
	case <-s.signs:
	default:
	}
	s.signs <- sign
	return nil
}

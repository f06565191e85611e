package hook_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hook"
)

// fakeHub is a hub with an inbox and one session.
type fakeHub struct {
	mu       sync.Mutex
	live     bool // another connection has the session
	kind     parley.SessionKind
	ready    []parley.Message
	taken    []parley.Message // leased and not seen
	seen     []string
	given    []string // given back
	settled  int
	keys     map[string]bool // the sessions that calls have named
	opened   chan struct{}   // receives when a hook opens the session
	decision parley.Approval
	asked    parley.ToolUse
	changed  chan struct{}
	err      error
	hang     bool

	hangAfterTake bool
}

func newFakeHub(ready ...parley.Message) *fakeHub {
	return &fakeHub{live: true, kind: parley.SessionStdio, ready: ready, changed: make(chan struct{}, 1), opened: make(chan struct{}, 10), keys: map[string]bool{}}
}

// begin waits for ever if the hub hangs, and returns the error of all calls.
func (f *fakeHub) begin(ctx context.Context) error {
	if f.hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fakeHub) OpenSession(ctx context.Context, n parley.NewSession) (parley.SessionStream, error) {
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[n.Key] = true
	f.opened <- struct{}{}
	if !f.live {
		f.live, f.kind = true, n.Kind
	}
	return &fakeStream{hub: f, session: parley.Session{Key: n.Key, Kind: f.kind, Wake: n.Wake}}, nil
}

func (f *fakeHub) Take(ctx context.Context, t parley.Take) (parley.Taken, error) {
	if err := f.begin(ctx); err != nil {
		return parley.Taken{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.live {
		return parley.Taken{}, parley.UnknownSession(t.Session)
	}
	f.keys[t.Session] = true
	n := min(t.Limit, len(f.ready))
	f.hang = f.hangAfterTake && n > 0
	out := f.ready[:n]
	f.ready, f.taken = f.ready[n:], out
	return parley.Taken{Lease: "lease-1", Messages: out}, nil
}

func (f *fakeHub) SettleSession(ctx context.Context, key string, _ parley.Outcome) ([]parley.Delivery, error) {
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.live {
		return nil, parley.UnknownSession(key)
	}
	f.keys[key] = true
	f.settled++
	return nil, nil
}

func (f *fakeHub) See(ctx context.Context, _, _ string) ([]parley.Delivery, error) {
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.taken {
		f.seen = append(f.seen, m.ID)
	}
	return nil, ctx.Err()
}

func (f *fakeHub) Nack(ctx context.Context, _ string, _ parley.Trouble, messages ...string) ([]parley.Delivery, error) {
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.given = append(f.given, messages...)
	return nil, nil
}

func (f *fakeHub) Named(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	if slices.Contains(ids, "gendry") {
		return []parley.Presence{{ID: "gendry", Name: "Gendry", Kind: parley.KindAgent, Role: "smith"}}, f.begin(ctx)
	}
	return nil, f.begin(ctx)
}

func (f *fakeHub) RequestToolUse(ctx context.Context, use parley.ToolUse, _ time.Duration) (parley.Approval, error) {
	f.asked = use
	return f.decision, f.begin(ctx)
}

// arrive puts a message into the inbox of the hub.
func (f *fakeHub) arrive(m parley.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = append(f.ready, m)
	f.changed <- struct{}{}
}

type fakeStream struct {
	hub     *fakeHub
	session parley.Session
	begun   bool
}

func (s *fakeStream) Session() parley.Session { return s.session }
func (s *fakeStream) Close() error            { return nil }
func (s *fakeStream) Next(ctx context.Context) (parley.SessionSign, error) {
	if s.begun {
		select {
		case <-s.hub.changed:
		case <-ctx.Done():
			return parley.SessionSign{}, context.Cause(ctx)
		}
	}
	s.begun = true
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return parley.SessionSign{Inbox: parley.Inbox{Waking: len(s.hub.ready)}}, nil
}

// failingWriter is the output of a hook whose client has gone.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// hangingWriter is the output of a hook whose hub hangs from then on.
type hangingWriter struct {
	hub  *fakeHub
	text bytes.Buffer
}

func (w *hangingWriter) Write(text []byte) (int, error) {
	w.hub.hang = true
	return w.text.Write(text)
}

// result is what a hook has printed.
type result struct {
	code     int
	out, err string
}

// run runs a hook that does not wait for more than is there.
func run(t *testing.T, hub hook.Hub, client, event, input string, change ...func(*hook.Call)) result {
	t.Helper()
	var out, stderr bytes.Buffer
	call := hook.Call{
		Hub: hub, Agent: "ana", Client: client, Event: event, Wait: 0, Waits: hook.Waits{Dir: t.TempDir()},
		Env: func(string) string { return "" }, In: strings.NewReader(input), Out: &out, Err: &stderr,
	}
	for _, c := range change {
		c(&call)
	}
	code := call.Run(t.Context())
	return result{code, out.String(), stderr.String()}
}

var began = time.Date(2026, 11, 19, 10, 37, 0, 0, time.UTC)

// message returns a message to ana.
func message(id, from, text string) parley.Message {
	return parley.Message{ID: id, From: from, To: "ana", Type: parley.TypeChat, CreatedAt: began, Content: parley.Content{Text: text}}
}

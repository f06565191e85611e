package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// call is the body of a request, as a receiver parses it.
type call struct {
	Run, Agent, Conversation string
	Attempt                  int
	Deadline                 time.Time
	Triggers                 []parley.Message
	Prompt                   struct{ System, User string }
	Reply                    struct{ URL, Token string }
}

// fixture is a runtime with an agent whose receiver is a handler of the test.
type fixture struct {
	*Runtime
	t      *testing.T
	server *httptest.Server
	dir    string
	began  int
	waited chan struct{} // closed when the agent has answered by the API
}

func newFixture(t *testing.T, handler http.HandlerFunc) *fixture {
	t.Helper()
	s := &fixture{t: t, dir: t.TempDir(), server: httptest.NewServer(handler), waited: make(chan struct{})}
	t.Cleanup(s.server.Close)
	s.Runtime = newRuntime(t, s.dir, s.server.Listener.Addr().String())
	s.options.Answered = func(ctx context.Context, _ parley.RunRequest) error {
		select {
		case <-s.waited:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return s
}

func newRuntime(t *testing.T, dir string, allow ...string) *Runtime {
	t.Helper()
	r, err := New(Options{Dir: func(agent string) string { return filepath.Join(dir, agent) }, Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func agentAt(url string) parley.Agent {
	config, _ := json.Marshal(map[string]string{"url": url})
	return parley.Agent{ID: "hook", Profile: parley.Profile{Runtime: parley.RuntimeWebhook, RuntimeConfig: config}}
}

func (s *fixture) request(url string) parley.RunRequest {
	return parley.RunRequest{
		Run:      parley.Run{ID: "run-1", Conversation: "conv-1", Attempt: 1, Deadline: time.Now().Add(time.Hour)},
		Agent:    agentAt(url),
		Prompt:   parley.Prompt{System: "be kind", User: "hello"},
		Triggers: []parley.Message{{ID: "m-1", From: "user", Content: parley.Content{Text: "hello"}}},
		Token:    "token-of-the-run",
		URL:      "http://hub.example",
		Begin:    func(context.Context, parley.Process) error { s.began++; return nil },
		Log:      func([]byte) {},
	}
}

func (s *fixture) run() (parley.Result, error) {
	s.t.Helper()
	return s.Run(s.t.Context(), s.request(s.server.URL))
}

func (s *fixture) secretText() string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "hook", secretName))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// serveHub serves a handler as the hub of the commands that the test runs.
func serveHub(t *testing.T, handler http.Handler) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("PARLEY_URL", server.URL)
	t.Setenv("PARLEY_TOKEN", "parley_test")
}

// fakeHub returns the answers of a test, and notes each request.
type fakeHub struct {
	answers map[string]string // by method and path; one that begins with a number has that status

	mu    sync.Mutex
	asked []string
}

func newFakeHub(t *testing.T, answers map[string]string) *fakeHub {
	t.Helper()
	h := &fakeHub{answers: answers}
	serveHub(t, h)
	return h
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.asked = append(h.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	h.mu.Unlock()
	answer, known := h.answers[r.Method+" "+r.URL.Path]
	switch status, rest, _ := strings.Cut(answer, " "); {
	case !known:
		http.Error(w, "nobody expected "+r.URL.Path, http.StatusTeapot)
	case status == "202":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, rest)
	case status == "problem":
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, rest)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// last returns the last request, or "" before the first.
func (h *fakeHub) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) == 0 {
		return ""
	}
	return h.asked[len(h.asked)-1]
}

// session is one command line with the answer of the hub, and the expected result.
type session struct {
	name, answer string
	args         []string
	stdin        string
	asks         string // the last request that the hub must have received
	code         int
	out, err     string
}

// runSessions runs each session against a hub that has one answer.
func runSessions(t *testing.T, route string, sessions []session) {
	t.Helper()
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			hub := newFakeHub(t, map[string]string{route: s.answer})
			var out, errs strings.Builder
			if code := Run(s.args, strings.NewReader(s.stdin), &out, &errs); code != s.code {
				t.Errorf("exit code %d, want %d", code, s.code)
			}
			if out.String() != s.out || errs.String() != s.err {
				t.Errorf("it prints\n%s\nand says\n%s\nwant\n%s\nand\n%s", out.String(), errs.String(), s.out, s.err)
			}
			if got := hub.last(); got != s.asks {
				t.Errorf("the hub was asked\n%s\nwant\n%s", got, s.asks)
			}
		})
	}
}

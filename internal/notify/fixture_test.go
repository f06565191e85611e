package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// The test program is also a notifier's: arguments say so, because it gets nothing else of the environment.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "tell" {
		told(os.Args[2])
	}
	goleak.VerifyTestMain(m)
}

// told writes down what a program is given, or complains where it cannot.
func told(file string) {
	text, _ := io.ReadAll(os.Stdin)
	if err := os.WriteFile(file, []byte(string(text)+"--\n"+strings.Join(os.Environ(), "\n")), 0o600); err != nil {
		fmt.Fprint(os.Stderr, "cannot\x1b[2J write")
		os.Exit(3)
	}
	os.Exit(0)
}

// clock is a clock that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var owner = hub.Caller{Agent: parley.Owner, Source: "test", Scopes: parley.AllScopes()}

// world is a hub in which arya needs the owner's approval to write to gendry, behind its door, and the service with the
// ways of the configuration.
type world struct {
	*hub.Hub
	t      *testing.T
	db     *sqlite.DB
	dir    string
	clock  *clock
	config string
	door   *httptest.Server
	log    *safeBuffer
	sender *Service
}

// safeBuffer is a log that several write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newWorld(t *testing.T, config string) *world {
	t.Helper()
	w := &world{
		t: t, dir: t.TempDir(), config: config, log: &safeBuffer{}, clock: &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)},
	}
	w.open()
	t.Cleanup(w.close)
	for _, id := range []string{"arya", "gendry"} {
		_, err := w.AddAgent(t.Context(), owner, parley.NewAgent{ID: id})
		w.ok(err)
	}
	_, err := w.Permit(t.Context(), owner, parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow, RequiresApproval: true})
	w.ok(err)
	return w
}

func (w *world) open() {
	w.t.Helper()
	settings, err := Parse([]byte(w.config))
	w.ok(err)
	w.db, err = sqlite.Open(w.t.Context(), w.dir)
	w.ok(err)
	log := slog.New(slog.NewTextHandler(w.log, nil))
	w.Hub, err = hub.New(w.t.Context(), w.db, hub.Config{Clock: w.clock, Log: log, Notified: settings.Has})
	w.ok(err)
	w.door = httptest.NewServer(httpapi.New(w.Hub, httpapi.Options{Log: log}))
	w.sender, err = New(w.Hub, Options{
		Settings: settings, PublicURL: w.door.URL, Allow: []string{"127.0.0.1/32"}, Log: log,
		Environ: append(os.Environ(), "PARLEY_TOKEN=canary", "MY_SECRET=canary", "LANG=C"),
	})
	w.ok(err)
}

func (w *world) close() {
	w.sender.Stop()
	w.door.Close()
	w.ok(w.db.Close())
}

func (w *world) restart() {
	w.t.Helper()
	w.close()
	w.open()
}

// start has the service run until the end of the test, or a restart.
func (w *world) start() {
	w.sender.Start(w.t.Context())
	<-w.sender.Started()
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("unexpected error: %v", err)
	}
}

// send has the service send what is due.
func (w *world) send() {
	w.t.Helper()
	w.ok(w.sender.Send(w.t.Context()))
}

func (w *world) heldCall(words string) parley.Approval {
	w.t.Helper()
	_, err := w.Post(w.t.Context(), hub.Caller{Agent: "arya"}, parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: words}})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		w.t.Fatalf("the call was not held: %v", err)
	}
	return held.Approval
}

func (w *world) now(a parley.Approval) parley.Approval {
	w.t.Helper()
	now, err := w.Approval(w.t.Context(), owner, a.ID)
	w.ok(err)
	return now
}

// secretFile is a private file with a secret.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// letterbox keeps the requests that come to it. It answers with status, if that is set.
type letterbox struct {
	*httptest.Server
	status int
	got    []received
}

type received struct {
	path   string
	header http.Header
	body   []byte
}

func newLetterbox(t *testing.T) *letterbox {
	t.Helper()
	l := &letterbox{status: http.StatusOK}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost {
			t.Errorf("it is called with %s", r.Method)
		}
		l.got = append(l.got, received{r.URL.Path, r.Header, body})
		w.WriteHeader(l.status)
	}))
	t.Cleanup(l.Close)
	return l
}

// strictly decodes JSON that has no other fields.
func strictly(t *testing.T, body []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Errorf("%s: %v", body, err)
	}
}

const hostile = "<b>bold</b> *bold* _it_ [text](http://evil.example) `code` \u202eevorppa\u202c @someone /command \x1b[2J"

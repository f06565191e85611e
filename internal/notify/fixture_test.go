package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hubtest"
)

// The test program is also a notifier's: arguments say so, because it gets nothing else of the environment.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "tell" {
		recordInput(os.Args[2])
	}
	goleak.VerifyTestMain(m)
}

// recordInput writes down what a program is given, or complains where it cannot.
func recordInput(file string) {
	text, _ := io.ReadAll(os.Stdin)
	if err := os.WriteFile(file, []byte(string(text)+"--\n"+strings.Join(os.Environ(), "\n")), 0o600); err != nil {
		fmt.Fprint(os.Stderr, "cannot\x1b[2J write")
		syscall.Exit(3)
	}
	syscall.Exit(0) // without the second for which the race detector waits at the end of each process
}

var ctx = context.Background()

// notifiedHub is a hub in which arya needs the owner's approval to write to gendry, behind its HTTP API, and the service with
// the ways of the configuration.
type notifiedHub struct {
	*hubtest.Fixture
	settings Settings
	server   *httptest.Server
	logged   *safeBuffer
	notifier *Service
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

func newNotifiedHub(t *testing.T, config string) *notifiedHub {
	t.Helper()
	settings, err := Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	w := &notifiedHub{settings: settings, logged: &safeBuffer{}}
	w.Fixture = hubtest.New(t, hubtest.SQLite, hubtest.SQLite.NewPlace(t), func(f *hubtest.Fixture) {
		f.Config.Log, f.Config.Notified = w.logger(), settings.Has
	})
	w.serve()
	t.Cleanup(w.stopServing)
	w.AddAgents("arya", "gendry")
	w.AddPermission("arya", "gendry", parley.EffectAllow, func(p *parley.Permission) { p.RequiresApproval = true })
	return w
}

func (w *notifiedHub) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.logged, nil)) }

// serve opens the HTTP API, and makes the service.
func (w *notifiedHub) serve() {
	w.T.Helper()
	w.server = httptest.NewServer(httpapi.New(w.Hub, httpapi.Options{Log: w.logger()}))
	var err error
	w.notifier, err = New(w.Hub, Options{
		Settings: w.settings, PublicURL: w.server.URL, Allow: []string{"127.0.0.1/32"}, Log: w.logger(),
		Environ: append(os.Environ(), "PARLEY_TOKEN=canary", "MY_SECRET=canary", "LANG=C"),
	})
	w.NoError(err)
}

func (w *notifiedHub) stopServing() {
	w.notifier.Stop()
	w.server.Close()
}

func (w *notifiedHub) restart() {
	w.T.Helper()
	w.stopServing()
	w.Restart()
	w.serve()
}

// startNotifier has the service run until the end of the test, or a restart.
func (w *notifiedHub) startNotifier() {
	w.notifier.Start(ctx)
	<-w.notifier.Started()
}

// sendDue has the service send what is due.
func (w *notifiedHub) sendDue() {
	w.T.Helper()
	w.NoError(w.notifier.Send(ctx))
}

// postHeldMessage has arya write to gendry, for which it needs an approval.
func (w *notifiedHub) postHeldMessage(words string) parley.Approval {
	w.T.Helper()
	_, err := w.Post(ctx, hubtest.As("arya"), parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: words}})
	return w.HeldApproval(err)
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

// requestRecorder keeps the requests that come to it. It answers with status, if that is set.
type requestRecorder struct {
	*httptest.Server
	status int
	got    []received
}

type received struct {
	path   string
	header http.Header
	body   []byte
}

func newRequestRecorder(t *testing.T) *requestRecorder {
	t.Helper()
	l := &requestRecorder{status: http.StatusOK}
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

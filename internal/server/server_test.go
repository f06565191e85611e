package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// options are those of a hub in a new home, at a port that is free.
func options(t *testing.T, flags map[string]string) Options {
	t.Helper()
	all := map[string]string{"addr": "127.0.0.1:0"}
	for key, value := range flags {
		all[key] = value
	}
	c, err := config.Load("", nil, all)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Home: home.Dir(filepath.Join(t.TempDir(), "home")), Config: c, Log: quiet()}
}

// onBothStores runs a test with a hub on each kind of store.
func onBothStores(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, options(t, nil)) })
	t.Run("postgres", func(t *testing.T) { test(t, options(t, map[string]string{"store": pgtest.URL(t)})) })
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// get asks a hub at its address, or at its socket where that is given.
func get(t *testing.T, s *Server, path, socket string) (int, string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Origin()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

// clean fails if a hub has left anything by which it would be found.
func clean(t *testing.T, dir home.Dir) {
	t.Helper()
	if _, running, err := dir.Running(); err != nil || running {
		t.Errorf("running: %v, %v", running, err)
	}
	for _, name := range []string{"run/address", "run/hub.json", "parley.sock"} {
		if _, err := os.Lstat(filepath.Join(string(dir), name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

func TestAHubStartsAnswersAndStops(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		for range 2 { // and again on what it has left
			s := start(t, o)
			for _, socket := range []string{"", s.about.Socket} {
				if status, body := get(t, s, "/healthz", socket); status != http.StatusOK || body != "ok" {
					t.Errorf("%q: %d %s", socket, status, body)
				}
			}
			found, running, err := o.Home.Running()
			if err != nil || !running || found.PID != os.Getpid() || found.Address != s.about.Address || found.Socket != s.about.Socket {
				t.Errorf("found %+v, %v, %v", found, running, err)
			}
			stop(t, s)
			clean(t, o.Home)
		}
	})
}

func TestASecondHubLearnsTheAddressOfTheFirst(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		s := start(t, o)
		defer stop(t, s)
		_, err := Start(t.Context(), o)
		if parley.AsError(err).Reason != parley.Conflict || !strings.Contains(err.Error(), "at "+s.about.Address) {
			t.Errorf("got %v", err)
		}
		if status, _ := get(t, s, "/healthz", ""); status != http.StatusOK {
			t.Error("the first one was disturbed")
		}
	})
}

func TestStartsThatFailLeaveNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, test := range []struct {
		name, key, value, want string
	}{
		{"a port in use", "addr", taken.Addr().String(), "in use by another program (choose another address with --addr"},
		{"an address of another machine", "addr", "192.0.2.1:7717", "cannot listen at"},
		{"a database that is away", "store", "postgres://127.0.0.1:1/none?connect_timeout=1", "cannot reach the database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options(t, map[string]string{test.key: test.value})
			_, err := Start(t.Context(), o)
			if parley.CodeOf(err) != parley.Unavailable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if _, err := os.Lstat(string(o.Home)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a home is left: %v", err)
			}
			if err := o.Home.Make(); err != nil {
				t.Fatal(err)
			}
			if _, err := Start(t.Context(), o); err == nil {
				t.Error("in a home that was there it starts")
			}
			clean(t, o.Home)
			if kept, err := o.Home.Store(); err != nil || kept != "" {
				t.Errorf("a store is left: %q, %v", kept, err)
			}
			o.Config = options(t, nil).Config
			stop(t, start(t, o)) // nothing is in the way
		})
	}
}

func TestNoSocketNoHub(t *testing.T) {
	o := options(t, nil)
	if err := o.Home.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(o.Home.Socket(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "cannot create the socket "+o.Home.Socket()) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(o.Home.Socket()); err != nil {
		t.Fatal(err)
	}
	clean(t, o.Home)
}

func TestAnotherHubAtTheAddressIsNamed(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	_, err := Start(t.Context(), options(t, map[string]string{"addr": s.about.Address}))
	if err == nil || !strings.Contains(err.Error(), "another hub (parley "+parley.Version+")") {
		t.Errorf("got %v", err)
	}
}

func TestAStartCanBeCancelled(t *testing.T) {
	o := options(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	clean(t, o.Home)
}

func TestRunEndsWithItsContext(t *testing.T) {
	o := options(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, o, func(s *Server) {
		if status, _ := get(t, s, "/healthz", ""); status != http.StatusOK {
			t.Errorf("it is not there: %d", status)
		}
		cancel()
	})
	if err != nil {
		t.Error(err)
	}
	clean(t, o.Home)
}

func TestRunEndsWhenServingFails(t *testing.T) {
	broken := errors.New("broken")
	err := Run(t.Context(), options(t, nil), func(s *Server) { s.failed <- broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestAnOpenAddressIsWarnedOf(t *testing.T) {
	for addr, warned := range map[string]bool{"127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true, ":0": true} {
		var log bytes.Buffer
		o := options(t, map[string]string{"addr": addr})
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := start(t, o)
		if !strings.HasPrefix(s.Origin(), "http://127.0.0.1:") {
			t.Errorf("%s: a browser is sent to %s", addr, s.Origin())
		}
		stop(t, s)
		if got := strings.Contains(log.String(), "not encrypted"); got != warned {
			t.Errorf("%s: warned %v: %s", addr, got, log.String())
		}
	}
}

func TestFilesOfAHomeArePrivate(t *testing.T) {
	o := options(t, nil)
	s := start(t, o)
	defer stop(t, s)
	err := filepath.WalkDir(string(o.Home), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStreamsEndWithTheHub(t *testing.T) {
	s := start(t, options(t, nil))
	conn, err := net.Dial("unix", s.about.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%s, %v", line, err)
	}
	began := time.Now()
	stop(t, s)
	if took := time.Since(began); took >= stopTime {
		t.Errorf("it took %v", took)
	}
}

func TestOwnerAuthDecidesHowTheOwnerIsKnown(t *testing.T) {
	for _, test := range []struct {
		ownerAuth string
		socket    bool
		status    int
	}{
		{"socket", true, http.StatusOK},
		{"socket", false, http.StatusUnauthorized},
		{"token", true, http.StatusUnauthorized},
	} {
		s := start(t, options(t, map[string]string{"owner_auth": test.ownerAuth}))
		socket := ""
		if test.socket {
			socket = s.about.Socket
		}
		status, body := get(t, s, "/v1/whoami", socket)
		if status != test.status || test.status == http.StatusOK && !strings.Contains(body, `"id":"user"`) {
			t.Errorf("%+v: %d %s", test, status, body)
		}
		stop(t, s)
	}
}

// TestNobodyIsAnsweredByAnotherName: not even by what net/http answers itself.
func TestNobodyIsAnsweredByAnotherName(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	for _, line := range []string{"OPTIONS *", "GET /healthz"} {
		conn, err := net.Dial("tcp", s.about.Address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, line+" HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 421") {
			t.Errorf("%s: %s, %v", line, answer, err)
		}
		_ = conn.Close()
	}
}

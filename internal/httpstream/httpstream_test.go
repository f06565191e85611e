package httpstream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/httpstream"
)

// server is an HTTP server whose requests to /stream are streams.
type server struct {
	*httptest.Server
	streams *httpstream.Streams
	log     bytes.Buffer
	// taken says whether the last request was answered outside the HTTP server.
	taken atomic.Bool
}

func newServer(t *testing.T, answer http.HandlerFunc, change ...func(*httptest.Server)) *server {
	t.Helper()
	s := &server{}
	s.streams = httpstream.New(slog.New(slog.NewTextHandler(&s.log, nil)))
	noted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, hijacks := w.(http.Hijacker)
		_, pushes := w.(http.Pusher) // HTTP/2
		s.taken.Store(!hijacks && !pushes)
		answer(w, r)
	})
	s.Server = httptest.NewUnstartedServer(s.streams.Handler(noted, func(r *http.Request) bool { return r.URL.Path == "/stream" }))
	for _, f := range change {
		f(s.Server)
	}
	if s.TLS == nil {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// do makes a request, and returns the answer, whose body is read and closed.
func (s *server) do(t *testing.T, method, path string, body io.Reader) (answer http.Response, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return *res, string(read)
}

// dial opens a connection and sends the text.
func (s *server) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

const getStream = "GET /stream HTTP/1.1\r\nHost: hub\r\n\r\n"

// TestSameAnswersAsTheServers compares the answers to streams with those of the HTTP server.
func TestSameAnswersAsTheServers(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1000)
	for name, answer := range map[string]http.HandlerFunc{
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			w.WriteHeader(http.StatusOK) // too late
			_, _ = io.WriteString(w, `{"code":"E001"}`)
		},
		"a long answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for part := range strings.SplitSeq(long, "7") {
				_, _ = io.WriteString(w, part+"7")
			}
		},
		"parts": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for i := range 5 {
				_, _ = fmt.Fprintf(w, "part %d\n", i)
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, "the rest")
		},
		"what came": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			body, err := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, r.Method, r.Host != "", r.RemoteAddr != "", r.Context().Value(http.ServerContextKey) != nil, string(body), err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, answer)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				want, text := s.do(t, method, "/", strings.NewReader("body"))
				if s.taken.Load() {
					t.Fatal("the HTTP server did not answer")
				}
				got, same := s.do(t, method, "/stream", strings.NewReader("body"))
				if !s.taken.Load() {
					t.Fatal("the HTTP server answered")
				}
				if got.StatusCode != want.StatusCode || same != text || got.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
					t.Errorf("%s: %s %q %q, want %s %q %q", method, got.Status, same, got.Header, want.Status, text, want.Header)
				}
				if _, err := http.ParseTime(got.Header.Get("Date")); err != nil || !got.Close {
					t.Errorf("%s: close %t, date: %v", method, got.Close, err)
				}
			}
		})
	}
}

// TestTheServerAnswersTheRest: requests that the package cannot answer are answered as without it.
func TestTheServerAnswersTheRest(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintln(w, n, err)
	}
	for name, request := range map[string]string{
		"HTTP/1.0":        "GET /stream HTTP/1.0\r\n\r\n",
		"HEAD":            "HEAD /stream HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n",
		"a large body":    "POST /stream HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000),
		"unknown length":  "POST /stream HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
		"an expectation":  "POST /stream HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\nx",
		"another request": "GET / HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, answer)
			s.taken.Store(true)
			conn := s.dial(t, request)
			got, err := io.ReadAll(conn)
			if s.taken.Load() || err != nil || !strings.Contains(string(got), "200 OK") {
				t.Errorf("taken %t, %q, %v", s.taken.Load(), got, err)
			}
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		s := newServer(t, answer, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() })
		s.taken.Store(true)
		if res, text := s.do(t, http.MethodGet, "/stream", nil); s.taken.Load() || res.ProtoMajor != 2 || text != "0 <nil>\n" {
			t.Errorf("taken %t, %s %q", s.taken.Load(), res.Proto, text)
		}
	})
	t.Run("HTTP/1.1 over TLS is taken", func(t *testing.T) {
		s := newServer(t, answer, func(s *httptest.Server) { s.StartTLS() })
		if _, text := s.do(t, http.MethodGet, "/stream", nil); !s.taken.Load() || text != "0 <nil>\n" {
			t.Errorf("taken %t, %q", s.taken.Load(), text)
		}
	})
	t.Run("a body that breaks off", func(t *testing.T) {
		got := make(chan error, 1)
		s := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			got <- err
		})
		conn := s.dial(t, "POST /stream HTTP/1.1\r\nHost: hub\r\nContent-Length: 10\r\n\r\nhalf")
		_ = conn.(*net.TCPConn).CloseWrite()
		if err := <-got; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

// TestTheRequestEndsWithItsClient: a stream learns that its client has left, or sends what nobody asked for.
func TestTheRequestEndsWithItsClient(t *testing.T) {
	for name, leave := range map[string]func(net.Conn) error{
		"closes":     net.Conn.Close,
		"half":       func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() },
		"sends much": func(c net.Conn) error { _, err := io.WriteString(c, strings.Repeat("x", 1<<16)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(ended)
			})
			conn := s.dial(t, getStream)
			if _, err := conn.Read(make([]byte, 12)); err != nil {
				t.Fatal(err)
			}
			if err := leave(conn); err != nil {
				t.Fatal(err)
			}
			<-ended
		})
	}
}

// TestPartsArriveWhenTheyAreFlushed, not at the end.
func TestPartsArriveWhenTheyAreFlushed(t *testing.T) {
	more := make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "part %d\n", i)
			_ = http.NewResponseController(w).Flush()
			<-more
		}
	})
	res, err := s.Client().Get(s.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintf("part %d\n", i) {
			t.Fatalf("%q, %v", line, err)
		}
		more <- struct{}{}
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestAClientSeesACutAnswer: an answer that its handler gives up has no end.
func TestAClientSeesACutAnswer(t *testing.T) {
	for name, cause := range map[string]any{"given up": http.ErrAbortHandler, "a defect": "out of order"} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "the beginning")
				_ = http.NewResponseController(w).Flush()
				panic(cause)
			})
			res, err := s.Client().Get(s.URL + "/stream")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if text, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(text) != "the beginning" {
				t.Errorf("%q, %v", text, err)
			}
			if err := s.streams.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if logged := strings.Contains(s.log.String(), "out of order"); logged != (name == "a defect") {
				t.Errorf("the log has %q", &s.log)
			}
		})
	}
}

// TestASlowReaderIsNoticed: a write fails when the reader does not read in time.
func TestASlowReaderIsNoticed(t *testing.T) {
	failed := make(chan error, 1)
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		if err := control.SetWriteDeadline(time.Now()); err != nil {
			failed <- err
			return
		}
		_, _ = io.WriteString(w, "x")
		failed <- control.Flush()
	})
	s.dial(t, getStream)
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestShutdown waits for the streams, and ends those that do not end by themselves.
func TestShutdown(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	answer := func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		select {
		case <-end:
			_, _ = io.WriteString(w, "Goodbye.")
		case <-r.Context().Done():
		}
	}
	t.Run("they end", func(t *testing.T) {
		s := newServer(t, answer)
		conn := s.dial(t, getStream)
		<-begun
		done := make(chan error, 1)
		go func() { done <- s.streams.Shutdown(context.Background()) }()
		end <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(text), "Goodbye.") {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("they do not end", func(t *testing.T) {
		s := newServer(t, answer)
		conn := s.dial(t, getStream)
		<-begun
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := s.streams.Shutdown(stopped); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if text, _ := io.ReadAll(conn); len(text) > 0 {
			t.Errorf("the client got %q", text)
		}
	})
	t.Run("later ones", func(t *testing.T) {
		s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Hello.") })
		if err := s.streams.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		s.taken.Store(true)
		if _, text := s.do(t, http.MethodGet, "/stream", nil); s.taken.Load() || text != "Hello." {
			t.Errorf("taken %t, %q", s.taken.Load(), text)
		}
	})
}

package webhook

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestACallIsSignedAndAnswered(t *testing.T) {
	var got call
	var header http.Header
	s := newFixture(t, nil)
	s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		header = r.Header
		if want := "v1=" + signature([]byte(s.secretText()), header.Get("Parley-Timestamp"), body); header.Get("Parley-Signature") != want {
			t.Errorf("the signature is %s, want %s", header.Get("Parley-Signature"), want)
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"text": "hi", "usage": {"input_tokens": 3, "output_tokens": 4, "cost": 0.5}}`)
	})
	result, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	want := parley.Result{Text: "hi", Usage: parley.Usage{InputTokens: 3, OutputTokens: 4, Cost: 0.5}}
	if result != want {
		t.Errorf("the result is %+v, want %+v", result, want)
	}
	if s.began != 1 {
		t.Errorf("the run began %d times", s.began)
	}
	if got.Run != "run-1" || got.Agent != "hook" || got.Conversation != "conv-1" || got.Triggers[0].ID != "m-1" ||
		got.Prompt.System != "be kind" || got.Prompt.User != "hello" || got.Deadline.IsZero() ||
		got.Reply.URL != "http://hub.example/v1/messages" || got.Reply.Token != "token-of-the-run" {
		t.Errorf("the receiver got %+v", got)
	}
	if header.Get("Parley-Run") != "run-1" || header.Get("Content-Type") != "application/json" || header.Get("Accept-Encoding") != "" {
		t.Errorf("the receiver got the header %v", header)
	}
}

// TestTheReceiverOfTheManual runs the example of the manual, and checks that the manual has the same code.
func TestTheReceiverOfTheManual(t *testing.T) {
	source, err := os.ReadFile("receiver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runtimes", "webhook.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(source), "func receiver(")
	if !strings.Contains(string(manual), "func receiver("+function) {
		t.Error("docs/runtimes/webhook.md does not show the receiver of receiver_test.go")
	}

	s := newFixture(t, nil)
	secret, err := s.secret("hook")
	if err != nil {
		t.Fatal(err)
	}
	s.server.Config.Handler = receiver(string(secret))
	if result, err := s.run(); err != nil || result.Text != "You said: HELLO" {
		t.Errorf("the receiver answers %q, %v", result.Text, err)
	}
	s.server.Config.Handler = receiver("another secret")
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: wrong signature") {
		t.Errorf("with another secret it answers %v", err)
	}
}

func TestResponses(t *testing.T) {
	const kind = "Content-Type"
	for name, tt := range map[string]struct {
		status int
		header map[string]string
		body   string
		text   string
		fails  parley.Failure
		after  time.Duration
		says   string
	}{
		"JSON":                 {200, map[string]string{kind: "application/json"}, `{"text":"yes"}`, "yes", "", 0, ""},
		"plain text":           {200, map[string]string{kind: "text/plain; charset=utf-8"}, "yes\x00 \xff", "yes \uFFFD", "", 0, ""},
		"no text":              {200, map[string]string{kind: "application/json"}, `{}`, "", "", 0, ""},
		"nothing":              {200, nil, "", "", "", 0, ""},
		"no content":           {204, nil, "", "", "", 0, ""},
		"another key":          {200, map[string]string{kind: "application/json"}, `{"answer":"yes"}`, "", parley.FailureFinal, 0, `"answer"`},
		"negative usage":       {200, map[string]string{kind: "application/json"}, `{"usage":{"cost":-1}}`, "", parley.FailureFinal, 0, "negative usage"},
		"another type":         {200, map[string]string{kind: "text/html"}, "<p>", "", parley.FailureFinal, 0, "text/html"},
		"too long":             {200, map[string]string{kind: "text/plain"}, strings.Repeat("x", largestResponse+1), "", parley.FailureFinal, 0, "1048576"},
		"busy":                 {429, nil, "", "", parley.FailureBusy, 0, "429"},
		"busy for a while":     {429, map[string]string{"Retry-After": "7"}, "", "", parley.FailureBusy, 7 * time.Second, "429"},
		"busy for years":       {503, map[string]string{"Retry-After": "99999999"}, "", "", parley.FailureBusy, time.Hour, "503"},
		"down":                 {503, nil, "deploying", "", parley.FailureServer, 0, "deploying"},
		"broken":               {500, nil, "oops", "", parley.FailureServer, 0, "500 Internal Server Error: oops"},
		"refused":              {403, nil, "no\nway" + strings.Repeat("!", 1000), "", parley.FailureFinal, 0, "403 Forbidden: no way!"},
		"created":              {201, nil, "", "", parley.FailureFinal, 0, "201"},
		"moved as another":     {302, map[string]string{"Location": "/there"}, "", "", parley.FailureFinal, 0, "307"},
		"moved to nowhere":     {308, nil, "", "", parley.FailureFinal, 0, "308"},
		"timed out over there": {408, nil, "", "", parley.FailureServer, 0, "408"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, func(w http.ResponseWriter, _ *http.Request) {
				for key, value := range tt.header {
					w.Header().Set(key, value)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			result, err := s.run()
			if tt.fails == "" {
				if err != nil || result.Text != tt.text {
					t.Errorf("the result is %q, %v; want %q", result.Text, err, tt.text)
				}
				return
			}
			why, ok := errors.AsType[*parley.RunError](err)
			if !ok || why.Failure != tt.fails || why.After != tt.after || !strings.Contains(why.Error(), tt.says) {
				t.Errorf("it fails with %+v, want %s after %s with %q", err, tt.fails, tt.after, tt.says)
			}
		})
	}
}

func TestRetryAfterADate(t *testing.T) {
	at := time.Now().Add(10 * time.Minute).UTC().Format(http.TimeFormat)
	if pause, ok := retryAfter(at); !ok || pause < 9*time.Minute || pause > 10*time.Minute {
		t.Errorf("%s is %s from now, %v", at, pause, ok)
	}
	for _, header := range []string{"", "-3", "soon"} {
		if pause, ok := retryAfter(header); ok || pause != 0 {
			t.Errorf("%q is %s from now", header, pause)
		}
	}
}

// TestABombStaysPacked checks that the runtime requests no compression, and decompresses no response.
func TestABombStaysPacked(t *testing.T) {
	s := newFixture(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		pack := gzip.NewWriter(w)
		_, _ = io.Copy(pack, io.LimitReader(zeros{}, 4*largestResponse))
		_ = pack.Close()
	})
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "encoded as gzip") {
		t.Errorf("the response was taken: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAnAnswerMayComeLater(t *testing.T) {
	accepted := make(chan struct{})
	s := newFixture(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		close(accepted)
	})
	ended := make(chan error)
	go func() {
		result, err := s.Run(t.Context(), s.request(s.server.URL))
		if result != (parley.Result{}) {
			t.Errorf("the run answers %+v besides", result)
		}
		ended <- err
	}()
	<-accepted
	select {
	case err := <-ended:
		t.Fatalf("the run did not wait: %v", err)
	default:
	}
	close(s.waited)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	s := newFixture(t, func(http.ResponseWriter, *http.Request) {
		close(reached)
		<-release
	})
	defer close(release)
	why := errors.New("cancelled by user")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-reached
		cancel(why)
	}()
	if _, err := s.Run(ctx, s.request(s.server.URL)); !errors.Is(err, why) {
		t.Errorf("the run ended with %v, want %v", err, why)
	}
}

func TestARunThatMayNotBeginEnds(t *testing.T) {
	release := make(chan struct{})
	s := newFixture(t, func(_ http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	why := errors.New("it is not live any more")
	request := s.request(s.server.URL)
	request.Begin = func(context.Context, parley.Process) error { return why }
	if _, err := s.Run(t.Context(), request); !errors.Is(err, why) {
		t.Errorf("the run ended with %v, want %v", err, why)
	}
}

func TestAnUnreachableReceiverIsATransientFailure(t *testing.T) {
	gone := httptest.NewServer(nil)
	s := newFixture(t, nil)
	s.Runtime = newRuntime(t, s.dir, gone.Listener.Addr().String())
	gone.Close()
	_, err := s.Run(t.Context(), s.request(gone.URL+"/?key=canary"))
	why, ok := errors.AsType[*parley.RunError](err)
	if !ok || why.Failure != parley.FailureServer || strings.Contains(err.Error(), "canary") || s.began != 0 {
		t.Errorf("it fails with %v, and began %d times", err, s.began)
	}
}

func TestURLsThatAreNone(t *testing.T) {
	r := newRuntime(t, t.TempDir())
	for config, says := range map[string]string{
		``:            "needs a URL",
		`{"url": ""}`: "needs a URL",
		`{"url": "https://a.example", "secret": 1}`: "cannot have other settings",
		`{"url": "ftp://a.example"}`:                `"ftp"`,
		`{"url": "/hook"}`:                          "not the URL",
		`{"url": "https://"}`:                       "not the URL",
		`{"url": "https://u:p@a.example"}`:          "password",
		`{"url": "https://a.example/#x"}`:           "fragment",
	} {
		err := r.Check(t.Context(), parley.Agent{ID: "hook", Profile: parley.Profile{RuntimeConfig: json.RawMessage(config)}})
		if e := parley.AsError(err); e == nil || e.Code != parley.BadInput || e.Suggestion == "" || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v, want E003 with %q", config, err, says)
		}
	}
	if err := r.Check(t.Context(), agentAt("https://hooks.example.org/x?y=z")); err != nil {
		t.Error(err)
	}
}

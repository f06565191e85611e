package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

func TestErrorsOfTheHubComeBackAsTheyWere(t *testing.T) {
	hub := &fake{
		status: http.StatusTooManyRequests, kind: "application/problem+json; charset=utf-8",
		answer: `{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"too fast","code":"E002",` +
			`"reason":"rate_limited","recoverable":true,"suggestion":"slow down","retry_after":1.5}`,
	}
	_, err := to(t, hub, Options{}).Whoami(t.Context())
	e, ok := errors.AsType[*parley.Error](err)
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	want := parley.Error{
		Code: parley.Unavailable, Message: "too fast", Reason: parley.RateLimited, Recoverable: true, Suggestion: "slow down",
		RetryAfter: 1500 * time.Millisecond,
	}
	if *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
}

func TestAllIssuesComeBack(t *testing.T) {
	hub := &fake{
		status: http.StatusBadRequest, kind: "application/problem+json",
		answer: `{"status":400,"detail":"no","code":"E003","recoverable":true,` +
			`"validation":{"error":"VALIDATION_FAILED","msg_id":"msg_a3f5d8b2","issues":["one","two"],"action":"refused"}}`,
	}
	_, err := to(t, hub, Options{}).Whoami(t.Context())
	e, ok := errors.AsType[*parley.Error](err)
	if !ok || e.Validation == nil || e.Validation.MsgID != "msg_a3f5d8b2" || !slices.Equal(e.Validation.Issues, []string{"one", "two"}) {
		t.Errorf("the error is %+v", err)
	}
}

// TestStrangeAnswersAreNamed answers as no hub does.
func TestStrangeAnswersAreNamed(t *testing.T) {
	const problem = "application/problem+json"
	for name, hub := range map[string]*fake{
		"a proxy's page":       {status: http.StatusBadGateway, kind: "text/html", answer: "<h1>Bad Gateway</h1>"},
		"a redirect":           {status: http.StatusFound, answer: "elsewhere"},
		"an unknown code":      {status: http.StatusBadRequest, kind: problem, answer: `{"code":"E999","detail":"x"}`},
		"a broken problem":     {status: http.StatusBadRequest, kind: problem, answer: `{"code":`},
		"an empty problem":     {status: http.StatusBadRequest, kind: problem},
		"no JSON":              {status: http.StatusOK, answer: "hello"},
		"nothing":              {status: http.StatusOK},
		"another kind of JSON": {status: http.StatusOK, answer: `{"agent":7}`},
		"half an answer":       {status: http.StatusOK, answer: `{"agent":{"id":"ar`},
		"two answers":          {status: http.StatusOK, answer: `{}{}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := to(t, hub, Options{}).Whoami(t.Context())
			if parley.CodeOf(err) != parley.DependencyFailed || !strings.Contains(err.Error(), "is not a hub this program knows") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestRetryAfterThatIsNoTimeIsLeftOut(t *testing.T) {
	for _, after := range []string{"-1", "1e300", "100000000"} {
		hub := &fake{
			status: http.StatusServiceUnavailable, kind: "application/problem+json",
			answer: `{"code":"E002","detail":"x","retry_after":` + after + `}`,
		}
		_, err := to(t, hub, Options{}).Whoami(t.Context())
		if e := parley.AsError(err); e.Code != parley.Unavailable || e.RetryAfter != 0 {
			t.Errorf("retry_after %s became %s (%v)", after, e.RetryAfter, err)
		}
	}
}

// TestAnEndlessAnswerIsCutOff guards the memory of whoever calls.
func TestAnEndlessAnswerIsCutOff(t *testing.T) {
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	c := to(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}), Options{})
	if _, err := c.Whoami(t.Context()); parley.CodeOf(err) != parley.DependencyFailed {
		t.Errorf("the error is %v", err)
	}
}

func TestTheTokenDoesNotFollowARedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server was called with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	c := to(t, http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect), Options{Token: "parley_secret"})
	if _, err := c.Whoami(t.Context()); parley.CodeOf(err) != parley.DependencyFailed {
		t.Errorf("the error is %v", err)
	}
}

func TestANameIsOneStepOfAPath(t *testing.T) {
	hub := &fake{status: http.StatusOK, answer: `{}`}
	c := to(t, hub, Options{})
	for _, name := range []string{"", ".", ".."} {
		if _, err := c.Agent(t.Context(), name); parley.CodeOf(err) != parley.BadInput || hub.last.line != "" {
			t.Errorf("%q gave %v and the request %q", name, err, hub.last.line)
		}
	}
	if _, err := c.Agent(t.Context(), "../tokens"); err != nil || hub.last.line != "GET /v1/agents/..%2Ftokens" {
		t.Errorf("asked for %s (%v)", hub.last.line, err)
	}
}

func TestConnectionsThatFail(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		options Options
		want    string
	}{
		{"no socket", Options{Socket: filepath.Join(dir, "none.sock")}, "E002: the hub is not running (start it with: parley up)"},
		{"no socket in a home that was named", Options{Socket: plain, Home: dir}, "E002: the hub is not running (start it with: parley up --home " + dir + ")"},
		{"no such host", Options{URL: "http://hub.invalid"}, "E002: no hub answers at http://hub.invalid: "},
		{"not a socket", Options{Socket: plain}, "E002: the hub is not running (start it with: parley up)"},
		{"a path no socket can have", Options{Socket: dir + strings.Repeat("/long", 50)}, "E002: the hub is not running"},
		{"nobody at the address", Options{URL: gone.URL}, "E002: no hub answers at " + gone.URL},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := New(test.options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Whoami(t.Context()); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

func TestFailedConnectionSuggestsCheckingTheURL(t *testing.T) {
	c, err := New(Options{URL: "http://hub.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Whoami(t.Context()); parley.AsError(err).Suggestion != "check PARLEY_URL" {
		t.Errorf("the error is %v", err)
	}
}

func TestRefusedCallsWithoutATokenSuggestMakingOne(t *testing.T) {
	hub := &fake{status: 401, kind: "application/problem+json", answer: `{"code":"E001","reason":"unauthenticated","detail":"who?","suggestion":"send one"}`}
	for token, want := range map[string]string{"": "set PARLEY_TOKEN; parley token new makes one", "parley_x": "send one"} {
		if _, err := to(t, hub, Options{Token: token}).Whoami(t.Context()); parley.AsError(err).Suggestion != want {
			t.Errorf("with the token %q the error is %v", token, err)
		}
	}
}

func TestTextThatIsNotUTF8IsNotSent(t *testing.T) {
	hub := &fake{status: 201, answer: `{}`}
	c := to(t, hub, Options{})
	const broken = "caf\xe9"
	for _, d := range []parley.Draft{
		{Conversation: broken},
		{To: broken},
		{Direct: []string{"arya", broken}},
		{IdempotencyKey: broken},
		{Content: parley.Content{Text: broken}},
		{Content: parley.Content{Code: broken}},
		{Content: parley.Content{Artifacts: []parley.Artifact{{Name: broken}}}},
		{Payload: []byte(`{"a":"` + broken + `"}`)},
	} {
		if _, err := c.Post(t.Context(), d); parley.CodeOf(err) != parley.BadInput || hub.last.line != "" {
			t.Errorf("%+v gives %v", d, err)
		}
	}
}

func TestAConnectionCutInTheMiddle(t *testing.T) {
	c := to(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"agent"`)
	}), Options{})
	_, err := c.Whoami(t.Context())
	if parley.CodeOf(err) != parley.Unavailable || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %v", err)
	}
	if err := c.ExportAll(t.Context(), io.Discard); parley.CodeOf(err) != parley.Unavailable {
		t.Errorf("an export that breaks off gives %v", err)
	}
}

func TestAnArtifactIsCheckedAgainstItsDigest(t *testing.T) {
	const digest = "2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824" // of "hello"
	for answer, want := range map[string]error{"hello": nil, "hullo": parley.ErrDamaged} {
		body, err := to(t, &fake{status: http.StatusOK, answer: answer}, Options{}).OpenArtifact(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, body); !errors.Is(err, want) {
			t.Errorf("reading %q gives %v, want %v", answer, err, want)
		}
		_ = body.Close()
	}
}

func TestACheckThatBreaksOff(t *testing.T) {
	for _, answer := range []string{"", `{"progress":{}}` + "\n", "nonsense"} {
		_, err := to(t, &fake{status: http.StatusOK, answer: answer}, Options{}).CheckDeep(t.Context(), nil)
		if parley.CodeOf(err) != parley.DependencyFailed {
			t.Errorf("%q gives %v", answer, err)
		}
	}
}

func TestCancelledCallsReturnTheirCause(t *testing.T) {
	called := make(chan struct{}, 1)
	c := to(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the caller is gone
		called <- struct{}{}
		<-r.Context().Done()
	}), Options{})
	why := errors.New("had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-called
		cancel(why)
	}()
	if _, err := c.Take(ctx, parley.Take{Wait: time.Hour}); !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
}

// TestAHubThatHangs runs on a clock of its own.
func TestAHubThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				ours, _ := net.Pipe() // nobody reads the other end
				return ours, nil
			},
		}}
		c, err := New(Options{URL: "http://hub.example", HTTP: hangs})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.Take(t.Context(), parley.Take{Wait: 20 * time.Second})
		if parley.CodeOf(err) != parley.TimedOut || time.Since(began) != answerTime+20*time.Second {
			t.Errorf("after %s the error is %v", time.Since(began), err)
		}
		c.Close()
	})
}

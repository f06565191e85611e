package client

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// seen is a request as the server got it.
type seen struct {
	line   string // method and address
	body   string
	header http.Header
}

// fake is a hub that gives one answer to everything, and remembers the last request.
type fake struct {
	status int
	kind   string
	answer string
	last   seen
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.last = seen{r.Method + " " + r.RequestURI, string(body), r.Header}
	kind := f.kind
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.answer)
}

// to is a client of a fake hub.
func to(t *testing.T, handler http.Handler, o Options) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.URL = server.URL
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// wired is a call, the request it makes, and what it makes of the answer.
type wired struct {
	name   string
	call   func(ctx context.Context, c *Client) (any, error)
	sent   string // the request line
	body   string
	answer string // none: 204
	want   any
}

func checkWire(t *testing.T, tests []wired) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, test.check)
	}
}

func (test wired) check(t *testing.T) {
	t.Helper()
	hub := &fake{status: http.StatusOK, answer: test.answer}
	if test.answer == "" {
		hub.status = http.StatusNoContent
	}
	got, err := test.call(t.Context(), to(t, hub, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if hub.last.line != test.sent || hub.last.body != test.body {
		t.Errorf("sent %s\n%s\nwant %s\n%s", hub.last.line, hub.last.body, test.sent, test.body)
	}
	if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(parley.Priority{}, parley.Error{})); diff != "" {
		t.Error(diff)
	}
}

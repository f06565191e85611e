package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
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

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/httpapi"
)

// step is one call of an operation. {name} in its path, query and body stands for what was kept before.
type step struct {
	op     string
	as     string            // whose token; "": none
	vars   map[string]string // of the path
	query  string
	body   string
	header map[string]string
	keep   map[string]string // name → where in the answer: message.id, items.0.id
}

// story is steps that follow each other.
type story struct {
	*servedHub
	t    *testing.T
	kept map[string]string
	used map[string]bool // operations that have succeeded
}

func newStory(t *testing.T, change ...func(*httpapi.Options)) *story {
	t.Helper()
	return &story{servedHub: newServedHub(t, change...), t: t, kept: map[string]string{}, used: map[string]bool{}}
}

func operation(t testing.TB, id string) httpapi.Operation {
	t.Helper()
	list := httpapi.Routes()
	i := slices.IndexFunc(list, func(o httpapi.Operation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("there is no operation %q", id)
	}
	return list[i]
}

// request is what a step sends.
func (s *story) request(st step) request {
	s.t.Helper()
	op := operation(s.t, st.op)
	path := op.Path
	for name, value := range st.vars {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	if st.query != "" {
		path += "?" + st.query
	}
	return request{as: st.as, method: op.Method, path: s.fill(path), body: s.fill(st.body), header: st.header}
}

func (s *story) fill(text string) string {
	for name, value := range s.kept {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// take does a step and keeps what it says.
func (s *story) take(st step) (request, reply) {
	s.t.Helper()
	req := s.request(st)
	got := s.send(req)
	if got.status < http.StatusBadRequest {
		s.used[st.op] = true
	}
	for name, where := range st.keep {
		s.kept[name] = find(s.t, got.body, where)
	}
	return req, got
}

// find is a value in JSON, by a path with dots.
func find(t testing.TB, body, where string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for name := range strings.SplitSeq(where, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			if len(in) == 0 {
				t.Fatalf("nothing at %s in %s", where, body)
			}
			v = in[0]
		}
	}
	text, ok := v.(string)
	if !ok {
		t.Fatalf("no text at %s in %s", where, body)
	}
	return text
}

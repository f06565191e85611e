package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"
)

// wire writes one answer: a stream of events, or one document.
type wire struct {
	w       http.ResponseWriter
	r       *http.Request
	request Request
}

type object = map[string]any

// document answers without a stream.
func (x *wire) document(v any) {
	x.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(x.w).Encode(v)
}

// begin starts a stream.
func (x *wire) begin() {
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.WriteHeader(http.StatusOK)
}

// event sends one event. If name is "", the event has only data.
func (x *wire) event(name string, v any) {
	if name != "" {
		_, _ = fmt.Fprintf(x.w, "event: %s\n", name)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	x.raw("data: " + string(data) + "\n\n")
}

func (x *wire) raw(s string) {
	_, _ = io.WriteString(x.w, s)
	_ = http.NewResponseController(x.w).Flush()
}

// fails causes the failure that the test asked for, and reports whether the answer ends there.
func (x *wire) fails(f Fault, report func()) bool {
	switch f {
	case Cut:
		return true
	case Reset:
		panic(http.ErrAbortHandler)
	case Error:
		report()
		return true
	case Hang:
		<-x.r.Context().Done()
		return true
	default:
		return false
	}
}

// pieces returns a text in one or two pieces, for a stream.
func pieces(s string) []string {
	middle := len(s) / 2
	for middle > 0 && !utf8.RuneStart(s[middle]) {
		middle--
	}
	if middle == 0 {
		return []string{s}
	}
	return []string{s[:middle], s[middle:]}
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

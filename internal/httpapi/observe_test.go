package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// measured is what a hub measures of itself, in tests.
func measured(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = io.WriteString(w, "parley_messages 7\n")
}

// loggedLines is a message log of one line. Nothing is added to it.
type loggedLines struct{}

var loggedAt = time.Date(2026, 2, 25, 18, 50, 0, 0, time.UTC)

func (loggedLines) Tail(_ context.Context, f parley.LogFilter, _ bool, tell func([]parley.LogLine) error) error {
	line := parley.LogLine{
		Timestamp: loggedAt, Level: "info", MsgID: "m", TraceID: "t", From: "arya", To: "gendry", Type: parley.TypeChat,
		LatencyMS: 150, Status: "delivered",
	}
	if !f.Selects(line) {
		return tell(nil)
	}
	return tell([]parley.LogLine{line})
}

const (
	givenTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	givenParent = "00-" + givenTrace + "-00f067aa0ba902b7-01"
)

// TestTraceparent: what neither gives nor inherits a trace is of the one that its request is part of.
func TestTraceparent(t *testing.T) {
	w := newServedHub(t)
	post := func(header, body string) (parley.Receipt, string) {
		got := w.send(request{as: "arya", path: "/v1/messages", body: body, header: in("Traceparent", header)})
		var receipt parley.Receipt
		w.NoError(json.Unmarshal([]byte(got.body), &receipt))
		return receipt, got.header.Get("Traceparent")
	}
	plain := `{"direct":["gendry"],"content":{"text":"hello"}}`
	first, said := post(givenParent, plain)
	if first.Message.TraceID != givenTrace || said != parley.TraceParent(givenTrace, parley.MessageSpan(first.Message.ID)) {
		t.Errorf("given by the header: trace %s, answered %q", first.Message.TraceID, said)
	}
	for name, test := range map[string]struct{ header, body, want string }{
		"in the body":     {givenParent, `{"direct":["gendry"],"trace_id":"build-7","content":{"text":"x"}}`, "build-7"},
		"a reply":         {"00-" + strings.Repeat("a", 32) + "-00f067aa0ba902b7-01", `{"in_reply_to":"` + first.Message.ID + `","content":{"text":"x"}}`, givenTrace},
		"nonsense":        {"00-xyz", plain, ""},
		"zeros":           {"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", plain, ""},
		"another version": {"cc-" + givenTrace + "-00f067aa0ba902b7-01-more", plain, givenTrace},
	} {
		got, said := post(test.header, test.body)
		want := test.want
		if want == "" {
			want = got.Message.ID
		}
		if got.Message.TraceID != want || !strings.HasPrefix(said, "00-"+parley.TraceKey(want)+"-") {
			t.Errorf("%s: trace %s, want %s; answered %q", name, got.Message.TraceID, want, said)
		}
	}
}

// TestForeignTraceparent: a trace of others is not joined by naming it, in the header or in the body.
func TestForeignTraceparent(t *testing.T) {
	w := newServedHub(t)
	secret, err := w.Post(ctx, hub.Caller{Agent: "arya"}, parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: "x"}})
	w.NoError(err)
	trace := secret.Message.TraceID
	for name, r := range map[string]request{
		"header": {body: `{"direct":["rickon"],"content":{"text":"y"}}`, header: in("Traceparent", parley.TraceParent(trace, parley.MessageSpan(trace)))},
		"body":   {body: `{"direct":["rickon"],"trace_id":"` + trace + `","content":{"text":"y"}}`},
	} {
		r.as, r.path = "hound", "/v1/messages"
		var got parley.Receipt
		w.NoError(json.Unmarshal([]byte(w.send(r).body), &got))
		if got.Message.ID == "" || got.Message.TraceID != got.Message.ID {
			t.Errorf("%s: message %s is in the trace %s", name, got.Message.ID, got.Message.TraceID)
		}
	}
}

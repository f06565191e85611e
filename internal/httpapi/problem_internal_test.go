package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestStatusesOfErrors(t *testing.T) {
	for _, c := range []struct {
		code   parley.Code
		reason parley.Reason
		want   int
	}{
		{parley.NotPermitted, "", 403},
		{parley.NotPermitted, parley.Unauthenticated, 401},
		{parley.Unavailable, "", 503},
		{parley.Unavailable, parley.RateLimited, 429},
		{parley.Unavailable, parley.StorageFull, 507},
		{parley.BadInput, "", 400},
		{parley.BadInput, parley.NotFound, 404},
		{parley.BadInput, parley.Conflict, 409},
		{parley.Unavailable, parley.Gone, 410},
		{parley.BadInput, parley.TooLarge, 413},
		{parley.TimedOut, "", 504},
		{parley.DependencyFailed, "", 424},
		{parley.Internal, "", 500},
		{parley.Internal, parley.Conflict, 500}, // a reason that is not the code's
		{"E999", "", 500},
	} {
		if got := problemOf(parley.Errorf(c.code, "x").Because(c.reason)).Status; got != c.want {
			t.Errorf("%s %s: %d, want %d", c.code, c.reason, got, c.want)
		}
	}
	if got := problemOf(errors.New("anything")).Status; got != 500 {
		t.Errorf("an error of its own: %d", got)
	}
	wrapped := fmt.Errorf("while reading: %w", &http.MaxBytesError{Limit: 7})
	if got := problemOf(parley.Errorf(parley.Internal, "%w", wrapped)); got.Status != 413 || got.Code != parley.BadInput {
		t.Errorf("a body over the limit: %+v", got)
	}
}

func TestAllIssuesAreAnswered(t *testing.T) {
	issues := []string{"Missing required field: status", "progress: maximum is 1, got 2"}
	p := problemOf(parley.Invalid("the payload is not a valid status-update", "msg_a3f5d8b2", issues))
	if p.Status != 400 || p.Validation == nil || p.Validation.Error != "VALIDATION_FAILED" || len(p.Validation.Issues) != 2 || p.Validation.MsgID != "msg_a3f5d8b2" {
		t.Errorf("%+v", p)
	}
}

func TestRetryAfterIsInWholeSeconds(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "", time.Millisecond: "1", time.Second: "1", 1500 * time.Millisecond: "2", time.Minute: "60",
	} {
		w := httptest.NewRecorder()
		a := &api{options: withDefaults(Options{Log: slog.New(slog.DiscardHandler)})}
		a.fail(&responseWriter{ResponseWriter: w}, httptest.NewRequest(http.MethodGet, "/", nil), parley.Errorf(parley.Unavailable, "busy").Retryable(wait))
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("after %s: %q, want %q", wait, got, want)
		}
	}
}

func TestAnAnswerThatCannotBeFinishedIsCut(t *testing.T) {
	defer func() {
		if recover() != http.ErrAbortHandler { //nolint:errorlint // it is a value to compare with
			t.Error("the reader takes a part for the whole")
		}
	}()
	a := &api{options: withDefaults(Options{Log: slog.New(slog.DiscardHandler)})}
	w := &responseWriter{ResponseWriter: httptest.NewRecorder()}
	_, _ = w.Write([]byte("a part"))
	a.fail(w, httptest.NewRequest(http.MethodGet, "/", nil), errors.New("damaged"))
}

func TestCursorsComeBack(t *testing.T) {
	for _, want := range []parley.ListCursor{{}, {LastSeq: 7, ID: "x"}, {LastSeq: -1}} {
		got, err := decodeCursor[parley.ListCursor](encodeCursor(want))
		if err != nil || *got != want {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
	for _, word := range []string{"!", "e30x", encodeCursor("text"), encodeCursor(map[string]int{"other": 1}), encodeCursor([]int{1})} {
		if _, err := decodeCursor[parley.ListCursor](word); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	w := httptest.NewRecorder()
	writeJSON(w, 200, List[parley.ConversationView]{Items: []parley.ConversationView{{}}})
	writeJSON(w, 200, List[string]{})
	const want = `{"items":[{"id":"","kind":"","visibility":"","created_by":"","created_at":"0001-01-01T00:00:00Z","updated_at":"0001-01-01T00:00:00Z","messages":0,"last_seq":0,"members":[],"joined":false,"read_seq":0,"unread":0}]}
{"items":[]}
`
	if got := w.Body.String(); got != want {
		t.Errorf("got %s", got)
	}
}

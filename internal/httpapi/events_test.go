package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hubtest"
)

// block is one block of a stream as it came.
type block struct{ id, kind, data, comment string }

func (b block) num() int64 {
	n, _ := strconv.ParseInt(b.id, 10, 64)
	return n
}

// reader is an open stream of events.
type reader struct {
	t     hubtest.Tester
	res   *http.Response
	lines *bufio.Reader
	leave context.CancelFunc
}

// openStream opens a stream as somebody, by a client of its own.
func (w *servedHub) openStream(via *http.Client, who, query, lastID string) *reader {
	w.T.Helper()
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/v1/events"+query, http.NoBody)
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+w.tokens[who])
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := via.Do(req)
	w.NoError(err)
	w.T.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
	})
	return &reader{w.T, res, bufio.NewReader(res.Body), cancel}
}

// next waits for a block. io.EOF if the stream has ended between two blocks.
func (r *reader) next() (b block, err error) {
	for begun := false; ; begun = true {
		line, err := r.lines.ReadString('\n')
		if errors.Is(err, io.EOF) && (begun || line != "") {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return b, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if hint, comment := strings.CutPrefix(line, ": "); comment {
			b.comment = strings.TrimSpace(hint)
			continue
		}
		switch name {
		case "":
			return b, nil
		case "id":
			b.id = value
		case "event":
			b.kind = value
		case "data":
			b.data = value
		}
	}
}

func (r *reader) want(kind string) block {
	r.t.Helper()
	b, err := r.next()
	if err != nil || b.kind != kind {
		r.t.Fatalf("got %q %v, want %s", b, err, kind)
	}
	return b
}

func (w *servedHub) postIn(from, where, text string) parley.Message {
	w.T.Helper()
	return w.SayIn(from, where, text).Message
}

func TestEventsAreSentAsTheyHappen(t *testing.T) {
	w := newServedHub(t)
	stream := w.openStream(direct, "gendry", "?kinds=message", "")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
	} {
		if got := stream.res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	ready := stream.want("ready")
	if ready.data != `{"num":`+ready.id+`}` {
		t.Errorf("ready says %s", ready.data)
	}
	w.postIn("arya", "square", "not for the eyes of <b>HTML</b>")
	said := w.postIn("arya", "forge", "hello")
	stream.want("message.posted")
	got := stream.want("message.posted")
	want := fmt.Sprintf(`{"num":%d,"at":%q,"kind":"message.posted","conversation":%q,"agent":"arya","by":"arya","message":%q}`,
		said.Seq, said.CreatedAt.Format("2006-01-02T15:04:05.999Z07:00"), said.Conversation, said.ID)
	if got.data != want || got.num() != said.Seq {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestStreamGoesOnWhereItWas(t *testing.T) {
	w := newServedHub(t)
	first := w.postIn("arya", "forge", "one").Seq
	second := w.postIn("arya", "forge", "two").Seq
	for _, c := range []struct {
		name, query, lastID, ready string
		events                     []int64
	}{
		{"by number", "?kinds=message&after=" + fmt.Sprint(first-1), "", fmt.Sprint(first - 1), []int64{first, second}},
		{"by the last id", "?kinds=message", fmt.Sprint(first), fmt.Sprint(first), []int64{second}},
		{"the last id comes first", "?kinds=message&after=0", fmt.Sprint(first), fmt.Sprint(first), []int64{second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := w.openStream(direct, "gendry", c.query, c.lastID)
			stream.t = t
			if got := stream.want("ready").id; got != c.ready {
				t.Errorf("it goes on from %s, want %s", got, c.ready)
			}
			for _, num := range c.events {
				if got := stream.want("message.posted").num(); got != num {
					t.Errorf("it sends %d, want %d", got, num)
				}
			}
		})
	}
}

func TestStreamFromAnUnknownPlaceIsReset(t *testing.T) {
	w := newServedHub(t)
	stream := w.openStream(direct, "gendry", "", "123456789")
	newest, err := w.LastEvent(ctx, user)
	w.NoError(err)
	if got := stream.want("reset"); got.num() > newest || got.data != `{"num":`+got.id+`}` {
		t.Errorf("the stream goes on from %v, the newest is %d", got, newest)
	}
	stream.want("ready")
	seq := w.postIn("arya", "forge", "hello").Seq
	for b, err := stream.next(); b.num() != seq; b, err = stream.next() {
		w.NoError(err)
	}
}

func TestStreamCannotBeAskedForNonsense(t *testing.T) {
	w := newServedHub(t)
	for _, c := range []struct {
		query, lastID string
		status        int
	}{
		{"?after=x", "", 400},
		{"?after=-1", "", 400},
		{"", "x", 400},
		{"?kinds=Message", "", 400},
		{"?kinds=", "", 200},
		{"?include=everything", "", 400},
		{"?conversation=nowhere", "", 404},
		{"?conversation=forge", "", 404}, // hound has no part in it
		{"?surprise=1", "", 400},
	} {
		stream := w.openStream(direct, "hound", c.query, c.lastID)
		if got := stream.res.StatusCode; got != c.status {
			t.Errorf("%s %s: status %d, want %d", c.query, c.lastID, got, c.status)
		}
		stream.leave()
	}
}

func TestStreamIncludesMessages(t *testing.T) {
	w := newServedHub(t)
	from, err := w.LastEvent(ctx, user)
	w.NoError(err)
	var said []string
	for i := range 12 { // more than is read at once
		said = append(said, w.postIn("arya", "forge", fmt.Sprint(i)+strings.Repeat(" long", 40_000)).ID)
	}
	stream := w.openStream(direct, "gendry", "?kinds=message,member&include=message&after="+fmt.Sprint(from), "")
	stream.want("ready")
	for _, id := range said {
		var e parley.Event
		w.NoError(json.Unmarshal([]byte(stream.want("message.posted").data), &e))
		if e.Message != id || e.Body == nil || e.Body.ID != id || !e.Body.Intact() {
			t.Fatalf("message %s came as %s", id, e.Message)
		}
	}
	w.NoError(w.AddMember(ctx, user, "forge", "hound"))
	if got := stream.want("member.joined"); strings.Contains(got.data, "body") {
		t.Errorf("%s has a body", got.data)
	}
}

func TestRevokedTokenEndsItsStream(t *testing.T) {
	w := newServedHub(t)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya", Scopes: parley.AllScopes()})
	w.NoError(err)
	w.tokens["arya"] = made.Secret
	stream, other := w.openStream(direct, "arya", "?kinds=message", ""), w.openStream(direct, "gendry", "?kinds=message", "")
	stream.want("ready")
	other.want("ready")
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	if b, err := stream.next(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream goes on: %v %v", b, err)
	}
	w.postIn("arya", "forge", "hello")
	other.want("message.posted")
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	closing, endStreams := context.WithCancel(context.Background())
	w := newServedHub(t, func(o *httpapi.Options) { o.Closing = closing })
	stream := w.openStream(direct, "arya", "?kinds=message", "")
	stream.want("ready")
	endStreams()
	if b, err := stream.next(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream goes on: %v %v", b, err)
	}
}

// inMemory runs a test in which time passes by itself.
func inMemory(t *testing.T, test func(t *testing.T, w *servedHub, via *http.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		w := newServedHubAt(t, listener)
		via := listener.client()
		test(t, w, via)
		via.CloseIdleConnections()
	})
}

// TestSilentStreamReportsItsPosition: whoever has had nothing for long does not fall behind what the hub
// still knows.
func TestSilentStreamReportsItsPosition(t *testing.T) {
	inMemory(t, func(t *testing.T, w *servedHub, via *http.Client) {
		stream := w.openStream(via, "hound", "?kinds=message", "")
		stream.want("ready")
		for range 3 {
			seq := w.postIn("arya", "forge", "not for the hound").Seq
			before := time.Now()
			if got := stream.want(""); got.num() < seq || got.data != "" {
				t.Errorf("the stream is at %v, the newest is %d", got, seq)
			}
			if waited := time.Since(before); waited != 15*time.Second {
				t.Errorf("the stream was silent for %v", waited)
			}
		}
		stream.leave()
	})
}

// TestReaderThatDoesNotReadIsCutOff: it holds up nobody, and goes on where it was.
func TestReaderThatDoesNotReadIsCutOff(t *testing.T) {
	inMemory(t, func(t *testing.T, w *servedHub, via *http.Client) {
		slow, quick := w.openStream(via, "gendry", "?kinds=message", ""), w.openStream(via, "arya", "?kinds=message", "")
		greeting := slow.want("ready")
		last := greeting.id
		if !strings.Contains(greeting.comment, "Last-Event-ID") || !strings.Contains(greeting.comment, "too slowly") {
			t.Errorf("a reader is not told how to go on once it is cut off: %q", greeting.comment)
		}
		quick.want("ready")
		var said []int64
		for i := range 600 {
			said = append(said, w.postIn("user", "square", fmt.Sprint(i)).Seq)
			if got := quick.want("message.posted").num(); got != said[i] {
				t.Fatalf("the quick one got %d, want %d", got, said[i])
			}
		}
		time.Sleep(11 * time.Second)
		var got []int64
		for b, err := slow.next(); err == nil; b, err = slow.next() { // what was under way
			got, last = append(got, b.num()), b.id
		}
		if len(got) == len(said) {
			t.Fatal("the slow one was not cut off")
		}
		again := w.openStream(via, "gendry", "?kinds=message", last)
		again.want("ready")
		for len(got) < len(said) {
			got = append(got, again.want("message.posted").num())
		}
		if !slices.Equal(got, said) {
			t.Errorf("the slow one got %v, want %v", got, said)
		}
		again.leave()
		quick.leave()
		synctest.Wait()
		if log := w.logged.String(); strings.Count(log, "too slow") != 1 {
			t.Errorf("logged: %s", log)
		}
	})
}

package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// wantBusy requires the answer to one who has too much under way.
func wantBusy(t *testing.T, status int, header http.Header, body string) {
	t.Helper()
	var p struct{ Code, Reason, Suggestion string }
	_ = json.Unmarshal([]byte(body), &p)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" || p.Code != "E002" || p.Reason != "rate_limited" || p.Suggestion == "" {
		t.Errorf("got %d %v %s", status, header, body)
	}
}

// TestOneTokenHasSoManyStreams: three thousand of one token are not let in; what has ended makes room; others have their own.
func TestOneTokenHasSoManyStreams(t *testing.T) {
	w := newServedHub(t)
	most := hub.DefaultLoad().Streaming
	open := make([]*reader, most)
	inParallel(most, func(i int) {
		open[i] = w.openStream(direct, "arya", "", "")
		open[i].want("ready")
	})
	over := w.send(request{as: "arya", path: "/v1/events"})
	wantBusy(t, over.status, over.header, over.body)
	for _, other := range []string{"gendry", parley.Owner} {
		w.openStream(direct, other, "", "").want("ready")
	}
	open[0].leave()
	for {
		again := w.send(request{as: "arya", path: "/v1/events"})
		if again.status == http.StatusOK {
			break
		}
		wantBusy(t, again.status, again.header, again.body) // the stream is still being ended
	}
}

// TestCallsThatWaitLeaveRoomForOthers: an agent whose calls all wait can still read and post.
func TestCallsThatWaitLeaveRoomForOthers(t *testing.T) {
	w := newServedHub(t)
	most := hub.DefaultLoad().Waiting
	gone, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	wait := func() (answered bool) {
		req, err := http.NewRequestWithContext(gone, http.MethodPost, w.server.URL+"/v1/inbox/take", strings.NewReader(`{"wait":50,"only":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`))
		if err != nil {
			t.Error(err)
			return false
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+w.tokens["arya"])
		res, err := direct.Do(req)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusTooManyRequests {
			t.Errorf("a call that waits was answered: %s", res.Status)
		}
		return true
	}
	for range most {
		waiting.Go(func() {
			for wait() { // the short call below may have had its place
			}
		})
	}
	for {
		over := w.send(request{as: "arya", path: "/v1/inbox/take", body: `{"wait":0.001,"only":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`})
		if over.status != http.StatusOK {
			wantBusy(t, over.status, over.header, over.body)
			break
		}
	}
	for _, r := range []request{
		{as: "arya", path: "/v1/who"},
		{as: "arya", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"still here"}}`},
		{as: "arya", path: "/v1/inbox/take", body: `{}`},
	} {
		if got := w.send(r); got.status >= 300 {
			t.Errorf("%s: %d %s", r.path, got.status, got.body)
		}
	}
	cancel()
	waiting.Wait()
}

// TestUnreadAnswersHoldUpTheirReaderAlone: an agent reads nothing of what it has asked for. It has so many such calls and no
// more, and others are served.
func TestUnreadAnswersHoldUpTheirReaderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		w := newServedHubAt(t, listener)
		via := listener.client()
		defer via.CloseIdleConnections()
		trace := w.postLargeTrace()
		const calls = 25
		began := time.Now()
		var unread []net.Conn
		for range calls {
			unread = append(unread, w.requestTrace(listener, "arya", trace))
		}
		synctest.Wait()
		served := func(who string) {
			req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:7717/v1/traces/"+trace, http.NoBody)
			w.NoError(err)
			req.Header.Set("Authorization", "Bearer "+w.tokens[who])
			res, err := via.Do(req)
			w.NoError(err)
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: %v %v", who, res.Status, err)
			}
			_ = res.Body.Close()
		}
		served("gendry")
		served(parley.Owner)
		if took := time.Since(began); took > time.Second {
			t.Errorf("others were held up for %v", took)
		}
		time.Sleep(3 * time.Second)
		statuses := map[int]int{}
		for _, c := range unread[2:] {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
				statuses[res.StatusCode]++
				_ = res.Body.Close()
			}
		}
		if statuses[http.StatusTooManyRequests] < calls-4 {
			t.Errorf("got %v", statuses)
		}
		time.Sleep(time.Minute)
		served("arya") // what nobody has read was cut off
		for _, c := range unread {
			_ = c.Close()
		}
	})
}

// postLargeTrace is a trace of messages of 200 KiB in the square.
func (w *servedHub) postLargeTrace() string {
	w.T.Helper()
	large := strings.Repeat("x", 200<<10)
	first, err := w.Post(ctx, user, parley.Draft{Conversation: "square", Content: parley.Content{Text: large}})
	w.NoError(err)
	for range 10 {
		_, err := w.Post(ctx, user, parley.Draft{InReplyTo: first.Message.ID, Content: parley.Content{Text: large}})
		w.NoError(err)
	}
	return first.Message.TraceID
}

// requestTrace asks for a trace by a connection of its own, and does not read the answer.
func (w *servedHub) requestTrace(listener *pipes, who, trace string) net.Conn {
	w.T.Helper()
	c, err := listener.dial(ctx, "", "")
	w.NoError(err)
	_, err = fmt.Fprintf(c, "GET /v1/traces/%s HTTP/1.1\r\nHost: 127.0.0.1:7717\r\nAuthorization: Bearer %s\r\n\r\n", trace, w.tokens[who])
	w.NoError(err)
	return c
}

// TestStalledUploadsAreCutOff: a body that stops, or comes by drops, ends soon; one that comes at a pace is stored.
func TestStalledUploadsAreCutOff(t *testing.T) {
	for _, test := range []struct {
		name   string
		part   int
		pause  time.Duration
		stored bool
	}{
		{"stopped", 8 << 20, time.Hour, false},
		{"by drops", 1, time.Second, false},
		{"slow and steady", 64 << 10, 4 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := newPipes()
				w := newServedHubAt(t, listener)
				c, err := listener.dial(ctx, "", "")
				w.NoError(err)
				defer func() { _ = c.Close() }()
				const size = 2 << 20
				began := time.Now()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, err := fmt.Fprintf(c, "POST /v1/artifacts HTTP/1.1\r\nHost: 127.0.0.1:7717\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", w.tokens["arya"], size+1)
					for left := size; left > 0 && err == nil; left -= test.part {
						_, err = c.Write(make([]byte, min(test.part, left)))
						time.Sleep(test.pause)
					}
					if err == nil {
						_, _ = c.Write([]byte("."))
					}
				}()
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				w.NoError(err)
				took := time.Since(began)
				if test.stored != (res.StatusCode == http.StatusCreated) {
					t.Errorf("got %s after %v", res.Status, took)
				}
				if !test.stored && (res.StatusCode != http.StatusGatewayTimeout || took > time.Minute) {
					t.Errorf("got %s after %v", res.Status, took)
				}
				_ = res.Body.Close()
				_ = c.Close()
				<-sent
			})
		})
	}
}

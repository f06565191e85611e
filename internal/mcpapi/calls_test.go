package mcpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/mcpapi"
)

// interleavedCalls is how many calls two agents make at once.
const interleavedCalls = 10_000

// TestInterleavedCallsAreNotCrossed lets two agents make calls with the same ids at the same time, over one session each and over none.
func TestInterleavedCallsAreNotCrossed(t *testing.T) {
	h := newHub(t, mcpapi.Options{})
	keep := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer keep.CloseIdleConnections()
	var running sync.WaitGroup
	for _, agent := range []string{"ana", "ben"} {
		for _, session := range []bool{true, false} {
			c := &web{hub: h, agent: agent}
			message := filled(call("query_workspace", `{"action":"whoami"}`), "")
			if session {
				c.send(t, initialize)
				c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query_workspace","arguments":{"action":"whoami"}}}`
			}
			running.Go(func() {
				for i := range interleavedCalls / 4 {
					res, err := keep.Do(c.request(t, t.Context(), http.MethodPost, strings.Replace(message, `"id":7`, fmt.Sprintf(`"id":%d`, i), 1)))
					if err != nil {
						t.Error(err)
						return
					}
					body, err := io.ReadAll(res.Body)
					_ = res.Body.Close()
					if err != nil || !strings.Contains(string(body), "id "+agent+", agent") || !strings.Contains(string(body), fmt.Sprintf(`"id":%d,`, i)) {
						t.Errorf("call %d of %s: %d %v %s", i, agent, res.StatusCode, err, body)
						return
					}
				}
			})
		}
	}
	running.Wait()
}

// TestCancelledCallsEnd cancels calls that wait, in each way in which clients do.
func TestCancelledCallsEnd(t *testing.T) {
	long := mcpapi.Options{}
	long.MaxWait = time.Hour
	newHub := func(t *testing.T, o mcpapi.Options) *hubFixture {
		h := newHub(t, o)
		h.TakeAs("ben", parley.Take{}) // an agent that has never called is away, and cannot be asked
		return h
	}
	ask := call("contact_agent", `{"action":"ask","agentId":"ben","message":"Ripe?"}`)
	t.Run("the request is closed", func(t *testing.T) {
		h := newHub(t, long)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		req := (&web{hub: h, agent: "ana"}).request(t, ctx, http.MethodPost, filled(ask, ""))
		go func() {
			res, err := direct.Do(req)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			done <- err
		}()
		h.takenBy(t, "ben")
		cancel()
		if err := <-done; err == nil {
			t.Error("the call ended well")
		}
		h.answeredInInbox(t)
	})
	t.Run("a notice over HTTP", func(t *testing.T) {
		h := newHub(t, long)
		ana := &web{hub: h, agent: "ana"}
		ana.send(t, initialize)
		ana.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		var notice sync.WaitGroup
		defer notice.Wait() // its answer can come after that of the call
		notice.Go(func() {
			h.takenBy(t, "ben")
			ana.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		})
		session := *ana
		session.send(t, withoutMeta([]step{{message: ask}})[0].message)
		h.answeredInInbox(t)
	})
	t.Run("a notice over stdio", func(t *testing.T) {
		h := newHub(t, long)
		p := newPipe(t, h, "ana", long)
		p.send(t, initialize)
		p.write(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		p.write(t, withoutMeta([]step{{message: ask}})[0].message)
		h.takenBy(t, "ben")
		p.write(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		h.answeredInInbox(t)
	})
}

// TestACallThatWaitsTakesOneSlot: an agent with one waiting call at a time makes each sort of them, one after the other, but not two at
// once. An ask that has become a task keeps its slot.
func TestACallThatWaitsTakesOneSlot(t *testing.T) {
	h := newHub(t, quick(), func(c *hub.Config) { c.Load.Waiting = 1 })
	h.TakeAs("ben", parley.Take{}) // an agent that has never called is away, and cannot be asked
	current, session := &web{hub: h, agent: "ana"}, &web{hub: h, agent: "ana"}
	session.send(t, initialize)
	ask := call("contact_agent", `{"action":"ask","agentId":"ben","message":"Ripe?"}`)
	wait := call("check_inbox", `{"wait":1}`)
	for _, message := range []string{wait, ask} {
		for _, c := range []*web{current, session} {
			if c == session {
				message = withoutMeta([]step{{message: message}})[0].message
			}
			if got := c.send(t, filled(message, "")); strings.Contains(got.body, "in progress") || !strings.Contains(got.body, `"content"`) {
				t.Errorf("%s: %d %s", message, got.status, got.body)
			}
		}
	}
	if got := current.send(t, filled(asTask(ask), "")); !strings.Contains(got.body, `"taskId"`) {
		t.Fatalf("the ask became no task: %s", got.body)
	}
	if got := current.send(t, filled(wait, "")); got.status != http.StatusServiceUnavailable && got.status != http.StatusTooManyRequests {
		t.Errorf("beside the ask: %d %s", got.status, got.body)
	}
}

// takenBy waits until an agent has the question. It takes it, so that the agent can answer.
func (h *hubFixture) takenBy(t *testing.T, agent string) {
	t.Helper()
	taken, err := h.Take(t.Context(), asCaller(agent), parley.Take{Wait: time.Minute})
	if err != nil || len(taken.Messages) != 1 {
		t.Error(taken, err)
	}
}

// answeredInInbox answers the question of ana when ana no longer waits for the answer: then it comes to the inbox of ana.
func (h *hubFixture) answeredInInbox(t *testing.T) {
	t.Helper()
	for h.Underway("ana", hub.Waiting) > 0 {
		runtime.Gosched()
	}
	asked := h.NewestMessage()
	h.ReplyAs("ben", asked.ID, "Yes.")
	taken, err := h.Take(t.Context(), asCaller("ana"), parley.Take{Wait: time.Minute})
	if err != nil || len(taken.Messages) != 1 || !strings.Contains(taken.Messages[0].Content.Text, "Yes.") {
		t.Errorf("the inbox has %+v, %v", taken.Messages, err)
	}
}

package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// streams is a hub that serves one piece of a stream for each connection, and then refuses.
type streams struct {
	pieces []string
	asked  []string
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.RequestURI)
	if len(s.pieces) == 0 {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"code":"E001","reason":"unauthenticated","detail":"the token was revoked"}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, s.pieces[0])
	s.pieces = s.pieces[1:]
}

func TestEventsGoOnWhereTheyWere(t *testing.T) {
	hub := &streams{pieces: []string{
		"id: 3\nevent: ready\ndata: {\"num\":3}\n\nid: 4\nevent: message.posted\ndata: {\"num\":4,\"kind\":\"message.posted\"}\n\nid: 5\nevent: mess",
		"id: 7\nevent: ready\ndata: {\"num\":7}\n\n", // and nothing of what was missed
		": heartbeat\nid: 9\n\n",
		"id: 20\nevent: reset\ndata: {\"num\":20}\n\n",
	}}
	c := to(t, hub, Options{})
	var got []string
	var last error
	for e, err := range c.Events(t.Context(), EventsOptions{Conversation: "c1", Kinds: []string{"message", "agent"}}) {
		if last = err; err == nil {
			got = append(got, fmt.Sprint(e.Kind, e.Num))
		} else {
			got = append(got, string(parley.CodeOf(err)))
		}
	}
	want := []string{"ready3", "message.posted4", "E002", "ready7", "E002", "E002", "reset20", "E002", "E001"}
	if !slices.Equal(got, want) {
		t.Errorf("yielded %q, want %q", got, want)
	}
	if parley.AsError(last).Reason != parley.Unauthenticated {
		t.Errorf("ends with %v", last)
	}
	for i, after := range []string{"", "after=4", "after=4", "after=9", "after=20"} {
		if asked := hub.asked[i]; !strings.Contains(asked, after) || !strings.Contains(asked, "conversation=c1&kinds=message%2Cagent") {
			t.Errorf("call %d is %s, want %s in it", i, asked, after)
		}
	}
}

// TestAWorkspaceTellsWhatItMissed: EventReset stands for the events before the first connection, and for those that the hub has removed.
// Nothing is missing where a connection only broke.
func TestAWorkspaceTellsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pieces := []string{
			"",
			"id: 3\nevent: ready\ndata: {\"num\":3}\n\nid: 4\nevent: task.queued\ndata: {\"num\":4,\"kind\":\"task.queued\"}\n\n",
			"id: 4\nevent: ready\ndata: {\"num\":4}\n\n",
			"id: 20\nevent: reset\ndata: {\"num\":20}\n\n",
		}
		c := over(t, func(*http.Request) (*http.Response, error) {
			if len(pieces) == 0 {
				return answered(http.StatusUnauthorized, "application/problem+json", strings.NewReader(`{"code":"E001"}`)), nil
			}
			piece := pieces[0]
			pieces = pieces[1:]
			return streamed(strings.NewReader(piece)), nil
		})
		var got []string
		for e, err := range c.Workspace("ana", "").Events(t.Context(), parley.EventFilter{}) {
			if err == nil {
				got = append(got, fmt.Sprint(e.Kind, e.Num))
			} else {
				got = append(got, string(parley.CodeOf(err)))
			}
		}
		if want := []string{"E002", "reset3", "task.queued4", "E002", "E002", "reset20", "E002", "E001"}; !slices.Equal(got, want) {
			t.Errorf("yielded %q, want %q", got, want)
		}
	})
}

func TestEventsFromTheFirstOn(t *testing.T) {
	hub := &streams{pieces: []string{"id: 1\ndata: {\"num\":1}\n\n"}}
	for range to(t, hub, Options{}).Events(t.Context(), EventsOptions{Past: true}) {
	}
	if want := []string{"/v1/events?after=0", "/v1/events?after=1"}; !slices.Equal(hub.asked, want) {
		t.Errorf("asked for %q, want %q", hub.asked, want)
	}
}

func TestBrokenEvents(t *testing.T) {
	for name, piece := range map[string]string{
		"not JSON":    "data: {\n\n",
		"a long line": "data: " + strings.Repeat("x", maxEvent+1) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := to(t, &streams{pieces: []string{piece}}, Options{})
			for e, err := range c.Events(t.Context(), EventsOptions{}) {
				if err == nil {
					t.Errorf("yielded %v", e)
				}
			}
		})
	}
}

func TestEventsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := to(t, &streams{pieces: []string{"data: {\"num\":1}\nevent: ready\n\n"}}, Options{})
	n := 0
	for range c.Events(ctx, EventsOptions{}) {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d were yielded, want 1", n)
	}
}

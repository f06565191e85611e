package mcpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// subscribers subscribe ana to resources, over each transport and in each generation of the protocol. They return what the server
// sends then, and a function that ends the subscriptions.
var subscribers = map[string]func(t *testing.T, h *hubFixture, uris []string) (stream *bufio.Reader, end func()){
	"HTTP, listen": func(t *testing.T, h *hubFixture, uris []string) (*bufio.Reader, func()) {
		t.Helper()
		return acknowledged(t, openStream(t, &web{hub: h, agent: "ana"}, http.MethodPost, listening(uris))), func() {}
	},
	"HTTP, subscribe": func(t *testing.T, h *hubFixture, uris []string) (*bufio.Reader, func()) {
		t.Helper()
		c := &web{hub: h, agent: "ana"}
		c.send(t, initialize)
		c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		stream := openStream(t, c, http.MethodGet, "")
		for _, uri := range uris {
			c.send(t, subscribing("subscribe", uri))
		}
		return stream, func() { // an older session has no end of its own
			for _, uri := range uris {
				c.send(t, subscribing("unsubscribe", uri))
			}
		}
	},
	"stdio, listen": func(t *testing.T, h *hubFixture, uris []string) (*bufio.Reader, func()) {
		t.Helper()
		p := newPipe(t, h, "ana", quick())
		p.write(t, listening(uris))
		return acknowledged(t, p.out), func() {}
	},
	"stdio, subscribe": func(t *testing.T, h *hubFixture, uris []string) (*bufio.Reader, func()) {
		t.Helper()
		p := newPipe(t, h, "ana", quick())
		p.send(t, initialize)
		p.write(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, uri := range uris {
			p.send(t, subscribing("subscribe", uri))
		}
		return p.out, func() {
			for _, uri := range uris { // the server ends with the test
				go func() { _, _ = p.in.Write([]byte(subscribing("unsubscribe", uri) + "\n")) }() // a server that cannot write reads nothing
				for !strings.Contains(string(p.read(t)), `"id":7`) {
				}
			}
		}
	},
}

func listening(uris []string) string {
	return filled(method("subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]},`), "")
}

// acknowledged reads until the server has confirmed the subscription.
func acknowledged(t *testing.T, lines *bufio.Reader) *bufio.Reader {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, `"error"`) {
			t.Fatal(line, err)
		}
		if strings.Contains(line, "acknowledged") {
			return lines
		}
	}
}

func subscribing(act, uri string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"resources/` + act + `","params":{"uri":"` + uri + `"}}`
}

func openStream(t *testing.T, c *web, method, message string) *bufio.Reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	res, err := direct.Do(c.request(t, ctx, method, message))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	return bufio.NewReader(res.Body)
}

// TestNoticesHaveTheURIOfTheSubscription subscribes to resources by names and by other spellings of their ids, and renames and
// changes them.
func TestNoticesHaveTheURIOfTheSubscription(t *testing.T) {
	for name, subscribe := range subscribers {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, quick())
			fruit, quiet := h.ConversationAs("ana", "fruit").ID, h.CreateChannel("ana", "quiet", "ben").ID
			h.SayIn("ben", fruit, "Sour.")
			ben, err := h.Agent(t.Context(), asCaller("ana"), "ben")
			h.NoError(err)
			given, err := h.At(asCaller("ana")).Contact(t.Context(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "ben", Message: "Pick."})
			h.NoError(err)
			uris := []string{
				"parley://conversations/fruit", "parley://conversations/" + fruit, "parley://conversations/%23Quiet",
				"parley://agents/BEN", "parley://agents/" + ben.UUID, "parley://tasks/" + strings.ToUpper(given.Task),
			}
			stream, end := subscribe(t, h, uris)
			defer end()
			for id, renamed := range map[string]string{fruit: "berries", quiet: "loud"} {
				_, err := h.ChangeConversation(t.Context(), asCaller("ana"), id, parley.ConversationChange{Name: &renamed})
				h.NoError(err)
			}
			told := make(chan []string, 1)
			go func() { told <- missingNotices(stream, uris) }()
			change := func(i int) {
				h.SayIn("ben", fruit, "Ripe.")
				h.SayIn("ben", quiet, "Psst.")
				_, err := h.ChangeAgent(t.Context(), asCaller(parley.Owner), "ben", func(a *parley.Agent) error { a.Role = "r" + strconv.Itoa(i); return nil })
				h.NoError(err)
				progress := parley.TaskChange{Progress: &parley.TaskProgress{Message: strconv.Itoa(i)}}
				_, err = h.UpdateTask(t.Context(), asCaller("ben"), given.Task, progress)
				h.NoError(err)
			}
			for i := range 100 { // the server follows the events a moment after it has confirmed the subscription
				change(i)
				select {
				case missing := <-told:
					if len(missing) > 0 {
						t.Errorf("the stream ended without notices of %q", missing)
					}
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
			t.Error("some notices did not come")
		})
	}
}

// missingNotices reads until the client has been told of all these resources, and returns the ones that are left at the end.
func missingNotices(lines *bufio.Reader, uris []string) (missing []string) {
	left := map[string]bool{}
	for _, uri := range uris {
		left[uri] = true
	}
	for len(left) > 0 {
		line, err := lines.ReadString('\n')
		for uri := range left {
			if strings.Contains(line, "notifications/resources/updated") && strings.Contains(line, `"uri":"`+uri+`"`) {
				delete(left, uri)
			}
		}
		if err != nil {
			break
		}
	}
	for uri := range left {
		missing = append(missing, uri)
	}
	return missing
}

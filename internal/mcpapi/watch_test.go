package mcpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
)

// TestSubscribersGetChangeNotices subscribes to a conversation and a task, and changes both. A conversation that the caller may
// not see looks like one that does not exist.
func TestSubscribersGetChangeNotices(t *testing.T) {
	h := newHub(t, quick())
	secret := h.CreatePrivateChannel("ben", "secret")
	fruit := h.ConversationAs("ana", "fruit").ID
	task, err := h.At(asCaller("ana")).Contact(t.Context(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "ben", Message: "Pick."})
	if err != nil {
		t.Fatal(err)
	}
	listen := func(uris ...string) (*bufio.Reader, func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		message := method("subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]},`)
		res, err := direct.Do((&web{hub: h, agent: "ana"}).request(t, ctx, http.MethodPost, filled(message, ""))) //nolint:bodyclose // the returned function closes it
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(res.Body), func() { cancel(); _ = res.Body.Close() }
	}
	until := func(lines *bufio.Reader, want string) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if strings.Contains(line, want) {
				return
			}
			if err != nil {
				t.Errorf("the stream ended before it had %s: %v", want, err)
				return
			}
		}
	}
	lines, stop := listen("parley://conversations/"+fruit, "parley://tasks/"+task.Task)
	defer stop()
	until(lines, "acknowledged")
	told := make(chan struct{})
	go func() {
		defer close(told)
		until(lines, `"uri":"parley://conversations/`+fruit+`"`)
	}()
	for waiting := true; waiting; { // the server follows the events a moment after it has acknowledged
		h.SayIn("ben", fruit, "Ripe.")
		select {
		case <-told:
			waiting = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	if _, err := h.UpdateTask(t.Context(), asCaller("ben"), task.Task, parley.TaskChange{Progress: &parley.TaskProgress{Message: "half"}}); err != nil {
		t.Fatal(err)
	}
	until(lines, `"uri":"parley://tasks/`+task.Task+`"`)

	foreign, stopForeign := listen("parley://conversations/" + secret.ID)
	defer stopForeign()
	until(foreign, "Resource not found")
}

// TestAStreamBeginsAsTheSDKBeginsIt opens streams that the server holds without the SDK, and the same by the SDK.
func TestAStreamBeginsAsTheSDKBeginsIt(t *testing.T) {
	first := func(h *hubFixture, notifications string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		message := filled(method("subscriptions/listen", `"notifications":{`+notifications+`},`), "")
		res, err := direct.Do((&web{hub: h, agent: "ana"}).request(t, ctx, http.MethodPost, message))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		lines := bufio.NewReader(res.Body)
		event, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		data, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return res.Status + " " + res.Header.Get("Content-Type") + " " + res.Header.Get("Cache-Control") + "\n" + event + data
	}
	o := quick()
	o.Extend = func(*mcp.Server) {} // then the SDK holds every stream
	own, sdk := newHub(t, quick()), newHub(t, o)
	for _, notifications := range []string{
		`"toolsListChanged":true`, `"promptsListChanged":true,"toolsListChanged":true`, `"promptsListChanged":true,"resourcesListChanged":true`,
	} {
		if got, want := first(own, notifications), first(sdk, notifications); got != want {
			t.Errorf("a stream of %s begins with\n%s\nand that of the SDK with\n%s", notifications, got, want)
		}
	}
}

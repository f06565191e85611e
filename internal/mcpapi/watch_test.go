package mcpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// subscribed opens a stream with the change notices of ana for some resources.
func subscribed(t *testing.T, h *hubFixture, uris ...string) (lines *bufio.Reader, stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	message := method("subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]},`)
	res, err := direct.Do((&web{hub: h, agent: "ana"}).request(t, ctx, http.MethodPost, filled(message, ""))) //nolint:bodyclose // the returned function closes it
	if err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(res.Body), func() { cancel(); _ = res.Body.Close() }
}

// readUntil reads lines until one has a text.
func readUntil(t *testing.T, lines *bufio.Reader, want string) {
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

// failures is a log that tells when the server cannot follow the events.
type failures chan struct{}

func (f failures) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("cannot follow events")) {
		select {
		case f <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// TestChangeNoticesComeBack: while the agent has too many streams, the server cannot follow the events. Then the subscriber gets a notice
// for each of its resources, because any of them may have changed, and later ones as before.
func TestChangeNoticesComeBack(t *testing.T) {
	failed, o := make(failures, 1), quick()
	o.Log = slog.New(slog.NewTextHandler(failed, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := newHub(t, o, func(c *hub.Config) { c.Load.Streaming = 2 })
	fruit := h.ConversationAs("ana", "fruit").ID
	begun, err := h.Begin(t.Context(), asCaller("ana"), hub.Streaming)
	h.NoError(err)
	lines, stop := subscribed(t, h, "parley://conversations/"+fruit, "parley://agents/ben")
	defer stop()
	readUntil(t, lines, "acknowledged")
	<-failed
	begun.End()
	readUntil(t, lines, `"uri":"parley://agents/ben"`)
	readUntil(t, lines, `"uri":"parley://conversations/`+fruit+`"`)
	h.SayIn("ben", fruit, "Ripe.")
	readUntil(t, lines, `"uri":"parley://conversations/`+fruit+`"`)
}

// TestUnsubscribingFromNothing is no defect of the server.
func TestUnsubscribingFromNothing(t *testing.T) {
	h := newHub(t, quick())
	ana := &web{hub: h, agent: "ana"}
	ana.send(t, initialize)
	got := ana.send(t, `{"jsonrpc":"2.0","id":7,"method":"resources/unsubscribe","params":{"uri":"parley://agents/ben"}}`)
	if !strings.Contains(got.body, `"result":{}`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

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
	until := func(lines *bufio.Reader, want string) { t.Helper(); readUntil(t, lines, want) }
	lines, stop := subscribed(t, h, "parley://conversations/"+fruit, "parley://tasks/"+task.Task)
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

	foreign, stopForeign := subscribed(t, h, "parley://conversations/"+secret.ID)
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

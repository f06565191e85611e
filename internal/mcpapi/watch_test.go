package mcpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

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

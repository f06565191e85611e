package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/mcpapi"
)

// textOf returns the text of a tool's result.
func textOf(t *testing.T, a answer) string {
	t.Helper()
	var read struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(last(a), &read); err != nil || len(read.Result.Content) == 0 {
		t.Fatalf("the answer is %s (%v)", last(a), err)
	}
	return read.Result.Content[0].Text
}

// TestSessionsSendReachesExactlyOneSession asks one of two live sessions of an agent: the other one does not get the question.
func TestSessionsSendReachesExactlyOneSession(t *testing.T) {
	long := mcpapi.Options{}
	long.MaxWait = time.Minute
	h := newHub(t, long)
	one := newPipe(t, h, "ben", long)
	other := &web{hub: h, agent: "ben"}
	textOf(t, one.send(t, filled(call("check_inbox", `{}`), "")))
	ana := newPipe(t, h, "ana", long)
	if listed := textOf(t, ana.send(t, filled(call("query_workspace", `{"action":"list_sessions"}`), ""))); !strings.Contains(listed, "pipe-ben") {
		t.Fatalf("listed: %s", listed)
	}
	answered := make(chan string, 1)
	go func() {
		answered <- textOf(t, ana.send(t, filled(call("sessions_send", `{"sessionKey":"pipe-ben","message":"ripe?"}`), "")))
	}()
	asked := textOf(t, one.send(t, filled(call("check_inbox", `{"wait":50}`), "")))
	if !strings.Contains(asked, "ripe?") {
		t.Fatalf("the session took %s", asked)
	}
	if got := textOf(t, other.send(t, filled(call("check_inbox", `{}`), ""))); strings.Contains(got, "ripe?") {
		t.Errorf("another consumer took %s", got)
	}
	one.send(t, filled(call("reply", `{"message":"`+strings.Fields(asked)[2]+`","content":"yes"}`), ""))
	if got := <-answered; !strings.HasPrefix(got, "Response from ben") || !strings.Contains(got, "yes") {
		t.Errorf("the answer is %s", got)
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestTheTestMessageOfDoctorExpires: a client that begins a turn later does not find it.
func TestTheTestMessageOfDoctorExpires(t *testing.T) {
	hub := newFakeHub(t, map[string]string{
		"POST /v1/messages":    `{"message":{"id":"m-1"}}`,
		"GET /v1/messages/m-1": `{"message":{"id":"m-1"},"deliveries":[{"state":"expired"}]}`,
	})
	d := &doctor{app: &app{err: &strings.Builder{}}}
	c, err := d.app.newClient()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d.sendTest(t.Context(), c, "ana")
	if len(d.findings) != 1 || d.findings[0].Verdict != verdictWarn || d.findings[0].Message != "ana did not take a message within 45s, and the message has expired" {
		t.Errorf("the findings are %+v", d.findings)
	}
	if !strings.Contains(hub.asked[0], `"ttl":45`) {
		t.Errorf("the hub was asked %s", hub.asked[0])
	}
}

// TestAnOpenCodeBeforeItsFirstTurnIsNotWoken: its plugin has no session yet.
func TestAnOpenCodeBeforeItsFirstTurnIsNotWoken(t *testing.T) {
	server := parley.Session{Agent: "ana", Client: "opencode 1.18.33", Kind: parley.SessionStdio, Wake: parley.WakeNone}
	plugin := parley.Session{Agent: "ana", Client: "opencode", Kind: parley.SessionHook, Wake: parley.WakePlugin}
	other := parley.Session{Agent: "ana", Client: "cursor", Kind: parley.SessionStdio, Wake: parley.WakeNone}
	for name, test := range map[string]struct {
		all  []parley.Session
		want bool
	}{"before": {[]parley.Session{server}, true}, "after": {[]parley.Session{server, plugin}, false}} {
		if isBeforeFirstTurn(server, test.all) != test.want || isBeforeFirstTurn(other, test.all) {
			t.Error(name)
		}
	}
}

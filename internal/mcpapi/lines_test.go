package mcpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/mcpapi"
)

// TestLinesThatAreNoMessages sends what no client sends on standard input. The server answers with an error, and goes on.
func TestLinesThatAreNoMessages(t *testing.T) {
	h := newHub(t, quick())
	p := newPipe(t, h, "ana", quick())
	for _, line := range []string{
		"hello", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `[]`, `{"jsonrpc":"2.0"`, strings.Repeat("x", mcpapi.MaxBody+1),
		strings.Repeat("[", 200_000),
	} {
		p.write(t, line)
		if got := string(p.read(t)); !strings.Contains(got, `"code":-32700`) {
			t.Errorf("%.40s: %s", line, got)
		}
	}
	p.write(t, "")
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	for _, params := range []string{``, `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":7`} {
		for _, name := range []string{"tools/call", "tasks/get", "tasks/cancel", "tasks/update", "resources/read", "resources/subscribe", "prompts/get"} {
			p.write(t, `{"jsonrpc":"2.0","id":1,"method":"`+name+`"`+params+`}`)
			var got struct{ Error json.RawMessage }
			if answer := p.read(t); json.Unmarshal(answer, &got) != nil || got.Error == nil {
				t.Errorf("%s %s: %s", name, params, answer)
			}
		}
	}
	if got := p.send(t, filled(call("query_workspace", `{"action":"whoami"}`), "")); !strings.Contains(string(last(got)), "You are") {
		t.Errorf("afterwards: %s", last(got))
	}
}

// TestWithoutAHubEachCallSaysHowToStartOne serves a client while no hub runs: definitions are listed, and calls fail with a hint.
func TestWithoutAHubEachCallSaysHowToStartOne(t *testing.T) {
	c, err := client.New(client.Options{Socket: t.TempDir() + "/no.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	identify := func(ctx context.Context) (mcpapi.Caller, error) {
		_, err := c.Whoami(ctx)
		return mcpapi.Caller{Workspace: failing{c.Workspace("", "")}}, err
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + `"META"` + `}}` + "\n" + call("query_workspace", `{"action":"list_agents"}`) + "\n"
	var out strings.Builder
	err = mcpapi.ServeStream(t.Context(), io.NopCloser(strings.NewReader(filled(in, ""))), &out, identify, "k", quick())
	if err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, `"name":"check_inbox"`) || !strings.Contains(got, "parley up") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("the server says %s", got)
	}
}

// failing is a workspace of which each call fails at once, so that the test need not wait for a hub.
type failing struct{ parley.Workspace }

func (failing) Who(context.Context) ([]parley.Presence, error) {
	return nil, parley.Errorf(parley.Unavailable, "the hub is not running").Suggest("start it with: parley up")
}

// TestAnyNameOfAClientGetsASession: the hub refuses a session for a name that is cut within a character, or that has a NUL.
func TestAnyNameOfAClientGetsASession(t *testing.T) {
	h := newHub(t, quick())
	newPipe(t, h, "ben", quick()).send(t, strings.Replace(initialize, `"name":"test"`, `"name":"c\u0000c"`, 1))
	c := &web{hub: h, agent: "ana", header: map[string]string{"User-Agent": "c" + strings.Repeat("ü", 60)}}
	c.send(t, initialize)
	res, err := direct.Do(c.request(t, t.Context(), http.MethodGet, ""))
	h.NoError(err)
	defer func() { _ = res.Body.Close() }()
	list, err := h.Sessions(t.Context(), asCaller("ana"))
	if h.NoError(err); len(list) != 2 {
		t.Errorf("sessions: %+v", list)
	}
}

package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

const aPing = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// The MCP endpoint is behind the same guard as the rest, and none of these requests reaches the MCP server.
func TestTheGuardIsAroundMCP(t *testing.T) {
	reached := 0
	w := newServedHub(t, func(o *httpapi.Options) {
		o.MCP = func(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
			reached++
			answerMCP(w, r, c)
		}
	})
	w.tokens["writer"] = w.MakeToken("arya", parley.ScopeSend).Secret
	w.tokens["decider"] = w.MakeToken("arya", parley.ScopeDecide).Secret
	stale, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	w.tokens["stale"] = stale.Secret
	w.NoError(w.RevokeToken(ctx, user, stale.ID))
	large := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"` + strings.Repeat("a", 1<<20) + `"}}}`
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body := ""
		if method == http.MethodPost {
			body = aPing
		}
		ask := func(as string, header ...string) request {
			return request{as: as, method: method, path: "/mcp", body: body, header: in(header...)}
		}
		w.assertRefused(t, method+": no token", ask(""), 401, parley.NotPermitted)
		w.assertRefused(t, method+": a token that nobody has", ask("", "Authorization", "Bearer "+parley.NewSecret()), 401, parley.NotPermitted)
		w.assertRefused(t, method+": a revoked token", ask("stale"), 401, parley.NotPermitted)
		w.assertRefused(t, method+": the scope decide alone", ask("decider"), 403, parley.NotPermitted)
		w.assertRefused(t, method+": Host", ask("arya", "Host", "evil.example.org:"+w.port()), 421, parley.NotPermitted)
		w.assertRefused(t, method+": Host 0.0.0.0", ask("arya", "Host", "0.0.0.0:"+w.port()), 421, parley.NotPermitted)
		w.assertRefused(t, method+": Origin", ask("arya", "Origin", "https://evil.example.org"), 403, parley.NotPermitted)
		w.assertRefused(t, method+": the Origin of another port", ask("arya", "Origin", "http://127.0.0.1:1"), 403, parley.NotPermitted)
		w.assertRefused(t, method+": WebSocket", ask("arya", "Connection", "Upgrade", "Upgrade", "websocket"), 403, parley.NotPermitted)
	}
	w.assertRefused(t, "over 1 MiB", request{as: "arya", path: "/mcp", body: large}, 413, parley.BadInput)
	req, err := http.NewRequest(http.MethodPost, w.server.URL+"/mcp", io.MultiReader(strings.NewReader(large)))
	w.NoError(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.tokens["arya"])
	if got := w.do(req); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("over 1 MiB without a length: %d %s", got.status, got.body)
	}
	if reached != 0 {
		t.Errorf("%d of the requests reach the MCP server", reached)
	}
	if got := w.send(request{as: "arya", path: "/mcp", body: aPing}); got.status != http.StatusOK || reached != 1 {
		t.Errorf("a good request: %d %s", got.status, got.body)
	}
}

// SPEC 7.4 on /mcp: the token of a run works over TCP only where the configuration says run_token: bearer, and never to decide.
func TestRunTokenOverMCP(t *testing.T) {
	var caller httpapi.MCPCaller
	w := newServedHub(t, func(o *httpapi.Options) {
		o.MCP = func(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
			caller = c
			answerMCP(w, r, c)
		}
	})
	w.setManager("arya", "hound")
	plain, bearer := w.startInstantRun("arya"), w.startRunWithToken("hound", parley.TokenBearer)
	held := w.notifySupervised("It is done").ID
	call := func(token string) request {
		return request{path: "/mcp", body: aPing, header: in("Authorization", "Bearer "+token)}
	}
	w.assertRefused(t, "a run's token over TCP", call(plain.Token), 401, parley.NotPermitted)
	*w.peer = peer{agent: "hound", local: true}
	w.assertRefused(t, "a run's token from another process", call(plain.Token), 401, parley.NotPermitted)
	*w.peer = peer{agent: "arya", run: plain.Run.ID, local: true}
	if got := w.send(call(plain.Token)); got.status != http.StatusOK || caller.Agent != "arya" || caller.Run != plain.Run.ID {
		t.Errorf("from the run itself: %d %s as %s", got.status, got.body, caller.Agent)
	}
	*w.peer = peer{}
	if got := w.send(call(bearer.Token)); got.status != http.StatusOK || caller.Agent != "hound" || caller.Run != bearer.Run.ID {
		t.Errorf("with run_token: bearer: %d %s as %s", got.status, got.body, caller.Agent)
	}
	if _, err := caller.Workspace.DecideApproval(ctx, held, parley.Decision{Approve: true}); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("it decides: %v", err)
	}
	_, err := w.FinishRun(ctx, bearer.Run.ID, parley.Result{}, nil)
	w.NoError(err)
	w.assertRefused(t, "after the run", call(bearer.Token), 401, parley.NotPermitted)
	if !w.refusalAudited(parley.System, "token of arya") {
		t.Error("the refusal over TCP is not in the audit log")
	}
}

// Only "parley mcp" and hooks make the caller's client an agent: with the agent's own token, in its own name, on the socket.
func TestWhoConnectsAClient(t *testing.T) {
	var connected []string
	w := newServedHub(t, func(o *httpapi.Options) {
		o.Connect = func(_ context.Context, c hub.Caller) { connected = append(connected, c.Agent) }
	})
	given := w.startInstantRun("hound")
	owner := in("Parley-Client", "yes", "Parley-As", "arya")
	for _, test := range []struct {
		name string
		from peer
		request
		want int
	}{
		{"by the socket", peer{agent: "user", local: true}, request{as: "arya", header: in("Parley-Client", "yes")}, 1},
		{"from a process of the agent", peer{agent: "arya", local: true}, request{as: "arya", header: in("Parley-Client", "yes")}, 1},
		{"without saying so", peer{agent: "user", local: true}, request{as: "arya"}, 0},
		{"over TCP", peer{}, request{as: "arya", header: in("Parley-Client", "yes")}, 0},
		{"without a token", peer{agent: "user", local: true}, request{header: in("Parley-Client", "yes")}, 0},
		{"as another, by an owner", peer{agent: "user", local: true}, request{as: "user", header: owner}, 0},
		{"as another, by the socket", peer{agent: "user", local: true}, request{header: owner}, 0},
		{"a run", peer{agent: "hound", run: given.Run.ID, local: true}, request{header: in("Parley-Client", "yes", "Authorization", "Bearer "+given.Token)}, 0},
	} {
		connected = nil
		*w.peer, test.path = test.from, "/v1/whoami"
		if got := w.send(test.request); got.status != http.StatusOK || len(connected) != test.want || test.want == 1 && connected[0] != "arya" {
			t.Errorf("%s: %d %s, connected are %q", test.name, got.status, got.body, connected)
		}
	}
	w.tokens["writer"] = w.MakeToken("arya", parley.ScopeSend).Secret
	connected = nil
	*w.peer = peer{agent: "user", local: true}
	w.assertRefused(t, "without the scope", request{as: "writer", path: "/v1/whoami", header: in("Parley-Client", "yes")}, 403, parley.NotPermitted)
	if len(connected) != 1 {
		t.Error("a call that is refused leaves the client's shell to the owner")
	}
}

// The shell of a client whose agent was removed is nobody, even if another agent has the name now.
func TestTheClientOfARemovedAgentIsNobody(t *testing.T) {
	w := newServedHub(t)
	before, err := w.AgentView(ctx, user, "hound")
	w.NoError(err)
	*w.peer = peer{agent: "hound", uuid: before.UUID, client: 7, local: true}
	if got := w.send(request{path: "/v1/whoami"}); find(t, got.body, "agent.id") != "hound" || !strings.Contains(got.body, `"client":{"agent":"hound","pid":7}`) {
		t.Errorf("it is %s", got.body)
	}
	w.NoError(w.RemoveAgent(ctx, user, "hound"))
	w.assertRefused(t, "removed", request{path: "/v1/whoami"}, 401, parley.NotPermitted)
	_, err = w.AddAgent(ctx, user, parley.NewAgent{ID: "hound", Reuse: true})
	w.NoError(err)
	w.assertRefused(t, "another with its name", request{path: "/v1/whoami"}, 401, parley.NotPermitted)
}

// TestALongCallOverMCPEndsWithItsToken revokes the token of a call of a tool that waits.
func TestALongCallOverMCPEndsWithItsToken(t *testing.T) {
	begun := make(chan struct{})
	var why error
	w := newServedHub(t, func(o *httpapi.Options) {
		o.MCP = func(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
			close(begun)
			<-r.Context().Done()
			why = context.Cause(r.Context())
			answerMCP(w, r, c)
		}
	})
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	go func() {
		<-begun
		_ = w.RevokeToken(ctx, user, made.ID) // if it fails, the call does not end
	}()
	w.send(request{path: "/mcp", body: aPing, header: in("Authorization", "Bearer "+made.Secret, "Mcp-Method", "tools/call")})
	if parley.CodeOf(why) != parley.NotPermitted {
		t.Errorf("the call ends with %v", why)
	}
}

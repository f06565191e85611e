package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// startInstantRun starts a run of an agent, which gendry has woken, with the token that programs get.
func (w *servedHub) startInstantRun(agent string) *hub.Assignment {
	w.T.Helper()
	return w.startRunWithToken(agent, parley.TokenRun)
}

func (w *servedHub) startRunWithToken(agent string, token parley.TokenKind) *hub.Assignment {
	w.T.Helper()
	_, err := w.ChangeAgent(ctx, user, agent, func(a *parley.Agent) error {
		a.Runtime, a.Concurrency = parley.RuntimeScript, 100
		if token == parley.TokenReply {
			a.Runtime, a.RuntimeConfig = parley.RuntimeWebhook, json.RawMessage(`{"url":"https://example.org/hook"}`)
		}
		return nil
	})
	w.NoError(err)
	_, err = w.Post(ctx, hub.Caller{Agent: "gendry"}, parley.Draft{
		Direct: []string{agent}, Ephemeral: true, Content: parley.Content{Text: "do something"},
	})
	w.NoError(err)
	given, err := w.NextRun(ctx, agent, hub.RunOptions{Node: "here", Plan: func(parley.Agent) hub.RunPlan {
		return hub.RunPlan{Deadline: time.Minute, Instant: true, Token: token}
	}})
	w.NoError(err)
	if given == nil {
		w.T.Fatalf("there is no run for %s", agent)
	}
	return given
}

// begin starts a run that says something.
func (s *story) begin() {
	s.servedHub.T = s.t
	given := s.startInstantRun("arya")
	s.kept["conversation"] = given.Run.Conversation
	s.RunLogs(given.Run.ID, []byte("thinking\x00\xff\n"))
	_, err := s.Post(ctx, hub.Caller{Agent: "arya", Run: given.Run.ID}, parley.Draft{Conversation: "square", Content: parley.Content{Text: "half done"}})
	s.NoError(err)
}

// TestARunIsItsAgentWhileItLives calls the hub as the child of a run does, with the run's own token.
func TestARunIsItsAgentWhileItLives(t *testing.T) {
	w := newServedHub(t)
	given := w.startInstantRun("arya")
	*w.peer = peer{agent: "arya", run: given.Run.ID, local: true}
	bearer := in("Authorization", "Bearer "+given.Token)
	got := w.send(request{path: "/v1/whoami", header: bearer})
	if got.status != http.StatusOK || find(t, got.body, "agent.id") != "arya" || find(t, got.body, "token") != given.Run.ID {
		t.Errorf("it is taken for %s", got.body)
	}
	got = w.send(request{path: "/v1/messages", header: bearer, body: `{"conversation":"square","content":{"text":"half done"}}`})
	if got.status != http.StatusCreated || find(t, got.body, "message.from") != "arya" {
		t.Errorf("it posts %d %s", got.status, got.body)
	}
	for _, path := range []string{"/v1/agents", "/v1/tokens"} {
		if got := w.send(request{path: path, header: bearer, body: `{"id":"mallory","agent":"arya"}`}); got.status != http.StatusForbidden {
			t.Errorf("POST %s: %d %s", path, got.status, got.body)
		}
	}
	_, err := w.FinishRun(ctx, given.Run.ID, parley.Result{Text: "done"}, nil)
	w.NoError(err)
	if got := w.send(request{path: "/v1/whoami", header: bearer}); got.status != http.StatusUnauthorized {
		t.Errorf("after its end: %d %s", got.status, got.body)
	}
}

// TestTheTokenOfARunIsNoSession keeps it out of a browser's cookie.
func TestTheTokenOfARunIsNoSession(t *testing.T) {
	w := newServedHub(t)
	token := w.startInstantRun("arya").Token
	got := w.send(request{path: "/v1/whoami", header: in("Cookie", "parley_session="+token, "Parley-Page", token)})
	if got.status != http.StatusUnauthorized {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestTheStreamOfARunEndsWithIt lets a child that outlives its run hear nothing more.
func TestTheStreamOfARunEndsWithIt(t *testing.T) {
	w := newServedHub(t)
	given := w.startInstantRun("arya")
	*w.peer = peer{agent: "arya", run: given.Run.ID, local: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+"/v1/inbox/take", strings.NewReader(`{"wait":50,"only":[]}`))
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+given.Token)
	req.Header.Set("Content-Type", "application/json")
	answered := make(chan reply, 1)
	go func() { answered <- w.do(req) }()
	w.waitForCall("arya")
	_, err = w.FinishRun(ctx, given.Run.ID, parley.Result{}, nil)
	w.NoError(err)
	if got := <-answered; got.status != http.StatusUnauthorized {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

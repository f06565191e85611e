package crashtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// killMoment is when a killingProxy kills the hub: before the hub gets a request, while the hub works on it, or after the hub has answered
// it. Then the caller gets no answer.
type killMoment string

const (
	noKill     killMoment = ""
	killBefore killMoment = "before"
	killAmid   killMoment = "amid"
	killAfter  killMoment = "after"
)

// killingProxy stands between a client and the hub. Of the next requests about approvals and tasks, it uses up one moment each.
type killingProxy struct {
	hub     *killedHub
	forward *httputil.ReverseProxy
	url     string

	mu    sync.Mutex
	kills []killMoment
}

func newKillingProxy(t *testing.T, h *killedHub) *killingProxy {
	t.Helper()
	to, err := url.Parse("http://" + h.addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &killingProxy{hub: h, forward: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		FlushInterval: -1, // the client follows its session
		ErrorLog:      log.New(io.Discard, "", 0),
	}}
	server := httptest.NewServer(p)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.url = server.URL
	return p
}

// killAt sets when the hub is killed at the next requests.
func (p *killingProxy) killAt(moments ...killMoment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kills = moments
}

// next returns when to kill the hub at a request.
func (p *killingProxy) next(r *http.Request) (moment killMoment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kills) > 0 && (strings.Contains(r.URL.Path, "/approvals/") || strings.Contains(r.URL.Path, "/tasks/")) {
		moment, p.kills = p.kills[0], p.kills[1:]
	}
	return moment
}

func (p *killingProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lost := httptest.NewRecorder() // the answer that the caller does not get
	switch p.next(r) {
	case noKill:
		p.forward.ServeHTTP(w, r)
		return
	case killBefore:
		p.hub.kill()
	case killAmid:
		var killed sync.WaitGroup
		killed.Go(p.hub.kill)
		p.tryForward(lost, r)
		killed.Wait()
	case killAfter:
		p.tryForward(lost, r)
		p.hub.kill()
	}
	p.hub.up()
	panic(http.ErrAbortHandler)
}

// tryForward forwards a request that may fail.
func (p *killingProxy) tryForward(w http.ResponseWriter, r *http.Request) {
	defer func() { _ = recover() }()
	p.forward.ServeHTTP(w, r)
}

// killsWhileAsking are kills after a call was made, and again while the client asks whether it was: net/http asks twice by itself.
var killsWhileAsking = []killMoment{killAfter, noKill, killBefore, killBefore}

// TestKillsAmidDecisionsOfMCP kills the hub while ana decides about posts of ben by the tool decide_approval: before the decision is made,
// while the hub makes it, after the hub has made it and before ana hears of it, and again while the call is repeated. Ana always gets her
// own decision. Each approved post is made once, no denied one is, and ben hears of each decision once.
func TestKillsAmidDecisionsOfMCP(t *testing.T) {
	t.Parallel()
	h := newKilledHub(t)
	ctx := context.Background()
	for _, profile := range []parley.NewAgent{
		{ID: "ana", Profile: parley.Profile{Runtime: "attached"}},
		{ID: "ben", Profile: parley.Profile{Runtime: "attached", Mode: parley.ModeSupervised, Manager: "ana"}},
	} {
		if _, err := h.owner.AddAgent(ctx, profile); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.owner.CreateConversation(ctx, parley.NewConversation{Name: "fruit", With: []string{"ana", "ben"}}); err != nil {
		t.Fatal(err)
	}
	ben := h.clientOf("ben", parley.ScopeRead, parley.ScopeSend)
	proxy := newKillingProxy(t, h)
	h.env = append(h.env, "PARLEY_URL="+proxy.url)
	ana := h.startMCP(h.secretOf("ana", parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide))

	var approved, told []string
	plans := [][]killMoment{
		{},
		{killBefore},
		{killAmid},
		{killAfter},
		{killAmid, killAmid},
		killsWhileAsking,
	}
	for i, plan := range plans {
		for _, approve := range []bool{true, false} {
			words := fmt.Sprintf("pear %d %v", i, approve)
			id := h.heldPost(ben, words)
			proxy.killAt(plan...)
			said, err := ana.call("decide_approval", map[string]any{"id": id, "approve": approve, "note": words})
			want := map[bool]string{true: id + " is executed.\n", false: id + " is denied.\n"}[approve]
			if err != nil || said != want {
				t.Errorf("killed %q: %q, want %q, %v", plan, said, want, err)
			}
			if approve {
				approved = append(approved, words)
			}
			told = append(told, id)
		}
	}
	h.checkPostsOf("ben", approved)
	h.checkOutcomes(ben, told)
}

// TestKillsAmidTheEndOfATask kills the hub after ana has ended a task by the tool update_task, and again while her client asks for the
// task. She gets the result of her call.
func TestKillsAmidTheEndOfATask(t *testing.T) {
	t.Parallel()
	h := newKilledHub(t)
	ctx := context.Background()
	if _, err := h.owner.AddAgent(ctx, parley.NewAgent{ID: "ana", Profile: parley.Profile{Runtime: "attached"}}); err != nil {
		t.Fatal(err)
	}
	given, err := h.owner.Workspace(parley.Owner, "").Contact(ctx, parley.Contact{Pattern: parley.PatternDelegate, Agent: "ana", Message: "count the pears"})
	if err != nil {
		t.Fatal(err)
	}
	proxy := newKillingProxy(t, h)
	h.env = append(h.env, "PARLEY_URL="+proxy.url)
	ana := h.startMCP(h.secretOf("ana", parley.ScopeRead, parley.ScopeSend))
	proxy.killAt(killsWhileAsking...)
	said, err := ana.call("update_task", map[string]any{"task": given.Task, "status": "completed", "result": "seven"})
	if err != nil || !strings.Contains(said, "completed") {
		t.Errorf("%q, %v", said, err)
	}
}

// secretOf issues a token for an agent.
func (h *killedHub) secretOf(agent string, scopes ...parley.Scope) string {
	h.t.Helper()
	issued, err := h.owner.NewToken(context.Background(), parley.NewToken{Agent: agent, Scopes: scopes})
	if err != nil {
		h.t.Fatal(err)
	}
	return issued.Secret
}

// clientOf returns a client of an agent.
func (h *killedHub) clientOf(agent string, scopes ...parley.Scope) *client.Client {
	h.t.Helper()
	c, err := client.New(client.Options{Socket: h.dir.Socket(), Token: h.secretOf(agent, scopes...)})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c
}

// heldPost makes a post that needs an approval, and returns the name of the approval.
func (h *killedHub) heldPost(by *client.Client, words string) string {
	h.t.Helper()
	_, err := by.Workspace("ben", "").Post(context.Background(), parley.Draft{Conversation: "fruit", Content: parley.Content{Text: words}})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		h.t.Fatalf("the post is not held: %v", err)
	}
	return held.Approval.ShortName()
}

// checkOutcomes takes everything out of an inbox: it has one message for each approval, about its outcome.
func (h *killedHub) checkOutcomes(of *client.Client, approvals []string) {
	h.t.Helper()
	var found []string
	for {
		taken, err := of.Take(context.Background(), parley.Take{Limit: 100, AtMostOnce: true})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, m := range taken.Messages {
			found = append(found, m.ID)
		}
		if len(taken.Messages) == 0 {
			break
		}
	}
	var want []string
	for _, id := range approvals {
		a, err := h.owner.Approval(context.Background(), id)
		if err != nil {
			h.t.Fatal(err)
		}
		want = append(want, a.Outcome)
	}
	if !slices.Equal(found, want) {
		h.t.Errorf("ben was told %q, want %q", found, want)
	}
}

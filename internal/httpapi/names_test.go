package httpapi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// Every form in which lists show a conversation or an agent works in a path, and through the client.
func TestPathsTakeTheNamesThatListsShow(t *testing.T) {
	w := newServedHub(t)
	made := w.send(request{as: "arya", path: "/v1/conversations", body: `{"name":"A/B & C? #1"}`})
	if made.status != 201 || find(t, made.body, "name") != "a-b-c-1" || find(t, made.body, "display_name") != "A/B & C? #1" {
		t.Fatalf("made %d %s", made.status, made.body)
	}
	sent := w.send(request{as: "arya", path: "/v1/messages", body: `{"direct":["@gendry"],"content":{"text":"hi @gendri"}}`})
	if find(t, sent.body, "unknown_mentions.0") != "gendri" || !strings.Contains(sent.body, "nobody is called @gendri: did you mean gendry?") {
		t.Errorf("sent %s", sent.body)
	}
	told := w.send(request{as: "arya", path: "/v1/contact", body: `{"action":"notify","agentId":"gendry","message":"hi @gendri"}`})
	if find(t, told.body, "unknown_mentions.0") != "gendri" || !strings.Contains(told.body, "nobody is called @gendri: did you mean gendry?") {
		t.Errorf("told %s", told.body)
	}
	c, err := client.New(client.Options{URL: w.server.URL, Token: w.tokens["arya"]})
	w.NoError(err)
	defer c.Close()
	for ref, id := range map[string]string{
		"A/B & C? #1": find(t, made.body, "id"), "#a/b & c? #1": find(t, made.body, "id"), "a-b-c-1": find(t, made.body, "id"),
		"@gendry": find(t, sent.body, "message.conversation"), "arya ↔ gendry": find(t, sent.body, "message.conversation"),
	} {
		got := w.send(request{as: "arya", path: "/v1/conversations/" + url.PathEscape(ref)})
		if got.status != 200 || find(t, got.body, "id") != id {
			t.Errorf("%s: %d %s", ref, got.status, got.body)
		}
		view, err := c.Conversation(ctx, ref)
		if err != nil || view.ID != id {
			t.Errorf("%s by the client: %s, %v", ref, view.ID, err)
		}
	}
	agent := w.send(request{as: "arya", path: "/v1/agents/" + url.PathEscape("@gendry")})
	if agent.status != 200 || find(t, agent.body, "id") != "gendry" {
		t.Errorf("%d %s", agent.status, agent.body)
	}
}

// Reuse over HTTP is for owners.
func TestReuseOverHTTP(t *testing.T) {
	w := newServedHub(t)
	w.NoError(w.RemoveAgent(ctx, user, "gendry"))
	w.assertRefused(t, "an agent", request{as: "arya", path: "/v1/agents", body: `{"id":"gendry","reuse":true}`}, 403, parley.NotPermitted)
	w.assertRefused(t, "without reuse", request{as: "user", path: "/v1/agents", body: `{"id":"gendry"}`}, 409, parley.BadInput)
	got := w.send(request{as: "user", path: "/v1/agents", body: `{"id":"gendry","reuse":true}`})
	if got.status != 201 || find(t, got.body, "id") != "gendry" {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.assertRefused(t, "the old token", request{as: "gendry", path: "/v1/inbox"}, 401, parley.NotPermitted)
}

// TestAConversationComesWithTheNamesInIt reads messages over HTTP and by the client, with and without names.
func TestAConversationComesWithTheNamesInIt(t *testing.T) {
	w := newServedHub(t)
	w.SayIn("gendry", "square", "Done.")
	if got := w.send(request{as: "arya", path: "/v1/conversations/square/messages"}); strings.Contains(got.body, `"names"`) {
		t.Errorf("names that nobody asked for: %s", got.body)
	}
	got := w.send(request{as: "arya", path: "/v1/conversations/square/messages?names=true"})
	if find(t, got.body, "names.0.id") != "gendry" || find(t, got.body, "names.0.kind") != "agent" {
		t.Errorf("with names: %s", got.body)
	}
	c, err := client.New(client.Options{URL: w.server.URL, Token: w.tokens["arya"]})
	w.NoError(err)
	defer c.Close()
	read, err := c.Workspace("arya", "").Read(ctx, "square", 0, 1)
	if err != nil || len(read.Messages) != 1 || len(read.Names) != 1 || read.Names[0].ID != "gendry" {
		t.Errorf("by the client: %+v, %v", read, err)
	}
}

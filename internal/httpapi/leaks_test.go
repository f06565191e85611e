package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestExistenceLeaksInBodies: what is named in a body or a query, and is somebody else's, is answered like
// what is not there.
func TestExistenceLeaksInBodies(t *testing.T) {
	w := newServedHub(t)
	arya := hub.Caller{Agent: "arya"}
	forge, err := w.Conversation(ctx, user, "forge")
	w.NoError(err)
	stored, err := w.PutArtifact(ctx, arya, strings.NewReader("a secret"))
	w.NoError(err)
	sent, err := w.Post(ctx, arya, parley.Draft{
		Conversation: "forge", Content: parley.Content{Text: "@gendry a secret", Artifacts: []parley.Artifact{{SHA256: stored.SHA256}}},
	})
	w.NoError(err)
	taken, err := w.Take(ctx, hub.Caller{Agent: "gendry"}, parley.Take{})
	w.NoError(err)
	message, lease, absent := sent.Message.ID, taken.Lease, uuid.NewString()
	begun, held := w.startInstantRun("arya").Run, w.notifySupervised("a secret")
	run, task, approval := begun.ID, w.newTaskForArya("a secret"), held.ID
	// Each of these has a short name, and an end of its id.
	named := map[string]string{message: sent.Message.ShortName(), run: begun.ShortName(), approval: held.ShortName()}
	bridge := w.joinBridge("wolf")
	hound := func(path, body string) request { return request{as: "hound", path: path, body: body} }
	post := func(fields string) request {
		return request{as: "hound", path: "/v1/messages", body: `{` + fields + `,"content":{"text":"a"}}`}
	}
	in := func(call, body string) request { return request{as: "hound", path: "/v1/inbox/" + call, body: body} }
	for _, test := range []struct {
		there, notThere string
		ask             func(id string) request
	}{
		{forge.ID, absent, func(id string) request { return post(`"conversation":"` + id + `"`) }},
		{"#forge", "#frage", func(id string) request { return post(`"conversation":"` + id + `"`) }},
		{message, absent, func(id string) request { return post(`"in_reply_to":"` + id + `"`) }},
		{message, absent, func(id string) request { return request{as: "hound", path: "/v1/messages/" + id + "?wait=50&for=seen"} }},
		{message, absent, func(id string) request { return in("ack", `{"messages":["`+id+`"]}`) }},
		{message, absent, func(id string) request { return in("take", `{"only":["`+id+`"]}`) }},
		{lease, absent, func(id string) request { return in("nack", `{"lease":"`+id+`","messages":["`+message+`"]}`) }},
		{lease, absent, func(id string) request { return in("extend", `{"lease":"`+id+`"}`) }},
		{lease, absent, func(id string) request { return in("see", `{"lease":"`+id+`"}`) }},
		{lease, absent, func(id string) request { return in("settle", `{"lease":"`+id+`"}`) }},
		{message, absent, func(id string) request { return in("nack", `{"lease":"`+lease+`","messages":["`+id+`"]}`) }},
		{message, absent, func(id string) request { return in("settle", `{"lease":"`+lease+`","answer":"`+id+`"}`) }},
		{run, absent, func(id string) request { return request{as: "hound", path: "/v1/runs/" + id} }},
		{run, absent, func(id string) request { return request{as: "hound", path: "/v1/runs/" + id + "/output"} }},
		{run, absent, func(id string) request {
			return request{as: "hound", path: "/v1/runs/" + id + "/cancel", body: `{"reason":"a"}`}
		}},
		{run, absent, func(id string) request { return in("settle", `{"lease":"`+id+`"}`) }},
		{forge.ID, absent, func(id string) request { return request{as: "hound", path: "/v1/runs?conversation=" + id} }},
		{task, "task-9999", func(id string) request { return hound("/v1/tasks/"+id, "") }},
		{task, "task-9999", func(id string) request { return hound("/v1/tasks/"+id+"/tree", "") }},
		{task, "task-9999", func(id string) request { return hound("/v1/tasks/"+id+"/cancel", `{}`) }},
		{task, "task-9999", func(id string) request { return hound("/v1/tasks/"+id+"/retry", `{}`) }},
		{task, "task-9999", func(id string) request { return hound("/v1/tasks/"+id+"/reassign", `{"assignee":"gendry"}`) }},
		{task, "task-9999", func(id string) request {
			return request{as: "hound", method: "PATCH", path: "/v1/tasks/" + id, body: `{"status":"completed"}`}
		}},
		{task, "task-9999", func(id string) request {
			return hound("/v1/tasks", `{"text":"a","assignee":"gendry","parent":"`+id+`"}`)
		}},
		{task, "task-9999", func(id string) request {
			return hound("/v1/tasks", `{"text":"a","assignee":"gendry","depends_on":["`+id+`"]}`)
		}},
		{task, "task-9999", func(id string) request {
			return hound("/v1/contact", `{"action":"delegate","agent":"gendry","message":"a","after":["`+id+`"]}`)
		}},
		{message, absent, func(id string) request {
			return hound("/v1/contact", `{"action":"delegate","agent":"gendry","message":"a","after":["`+id+`"]}`)
		}},
		{approval, absent, func(id string) request { return hound("/v1/approvals/"+id, "") }},
		{approval, absent, func(id string) request { return hound("/v1/approvals/"+id+"/decide", `{"approve":true}`) }},
		{bridge, "fox", func(id string) request { return hound("/v1/bridges/"+id, "") }},
		{bridge, "fox", func(id string) request { return hound("/v1/bridges/"+id+"/departures?wait=50", "") }},
		{bridge, "fox", func(id string) request { return hound("/v1/bridges/"+id+"/unknown", `{"files":[]}`) }},
		{bridge, "fox", func(id string) request { return hound("/v1/bridges/"+id+"/arrivals", `{"arrivals":[]}`) }},
		{forge.ID, absent, func(id string) request { return request{as: "hound", path: "/v1/events?conversation=" + id} }},
		{"forge", "frage", func(id string) request { return request{as: "hound", path: "/v1/events?conversation=" + id} }},
		{"forge", "frage", func(id string) request { return request{as: "hound", path: "/v1/search?q=secret+in%3A" + id} }},
		{sent.Message.TraceID, absent, func(id string) request { return request{as: "hound", path: "/v1/search?q=secret+trace%3A" + id} }},
		{stored.SHA256, strings.Repeat("ab", 32), func(id string) request {
			return request{as: "hound", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"a","artifacts":[{"sha256":"` + id + `"}]}}`}
		}},
	} {
		answer := func(id string) string {
			r := test.ask(id)
			got := w.send(r)
			return fmt.Sprint(got.status, got.header.Get("Content-Type"), strings.ReplaceAll(got.body, id, "<id>"))
		}
		compare := func(there, notThere string) {
			if there, notThere := answer(there), answer(notThere); there != notThere {
				t.Errorf("%s tells them apart:\n%s\n%s", test.ask("<id>").path, there, notThere)
			}
		}
		compare(test.there, test.notThere)
		if name := named[test.there]; name != "" {
			compare(name, name+"000000")
			compare(test.there[24:], absent[24:])
		}
	}
}

// TestPrivateNameAnswersLikeNone: hound does not see the channel forge. For it the name is as free as any other.
func TestPrivateNameAnswersLikeNone(t *testing.T) {
	s := newStory(t)
	answers := func(name string) (list []string) {
		for _, r := range []request{
			{method: http.MethodPost, path: "/v1/conversations/" + name + "/join"},
			{method: http.MethodGet, path: "/v1/conversations/" + name},
			{method: http.MethodPut, path: "/v1/conversations/" + name + "/members/hound"},
			{method: http.MethodGet, path: "/v1/search?q=in:" + name},
			{method: http.MethodPost, path: "/v1/messages", body: `{"conversation":"#` + name + `","content":{"text":"x"}}`},
			{method: http.MethodPost, path: "/v1/conversations", body: `{"name":"` + name + `","private":true}`},
		} {
			r.as = "hound"
			got := s.send(r)
			said := got.body
			if got.status == http.StatusCreated {
				said = "made"
			}
			list = append(list, fmt.Sprint(got.status, " ", strings.ReplaceAll(said, name, "NAME")))
		}
		return list
	}
	hidden, none := answers("forge"), answers("absent")
	if !slices.Equal(hidden, none) {
		t.Errorf("the private name answers\n%s\nand none\n%s", strings.Join(hidden, "\n"), strings.Join(none, "\n"))
	}
	if last := hidden[len(hidden)-1]; last != "201 made" {
		t.Errorf("making it: %s", last)
	}
}

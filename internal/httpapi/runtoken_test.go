package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
)

// setManager gives an agent a manager.
func (w *servedHub) setManager(agent, manager string) {
	w.T.Helper()
	w.EditAgent(agent, func(a *parley.Agent) { a.Manager = manager })
}

// refusalAudited says whether a refusal of somebody is in the audit log, about the token of somebody.
func (w *servedHub) refusalAudited(actor, subject string) bool {
	w.T.Helper()
	w.Stop() // everything is written
	log, err := w.AuditLog(ctx, user, 0, 1000)
	w.NoError(err)
	w.Start(ctx)
	return slices.ContainsFunc(log, func(e parley.AuditEntry) bool {
		return e.Act == "refused" && e.Actor == actor && (subject == "" || e.Subject == subject)
	})
}

// Row "Stolen run token": the manager's run is alive, and its report's run uses the manager's token.
func TestStolenRunToken(t *testing.T) {
	w := newServedHub(t)
	w.setManager("arya", "hound")
	manager, report := w.startInstantRun("hound"), w.startInstantRun("arya")
	id := w.notifySupervised("It is done").ID
	decide := request{path: "/v1/approvals/" + id + "/decide", body: `{"approve":true}`, header: in("Authorization", "Bearer "+manager.Token)}
	for _, test := range []struct {
		name string
		from peer
	}{
		{"the report's run", peer{agent: "arya", run: report.Run.ID, local: true}},
		{"the report's session", peer{agent: "arya", local: true}},
		{"the manager's own session, outside of the run", peer{agent: "hound", local: true}},
		{"the owner's shell", peer{agent: "user", local: true}},
		{"a process that was left behind", peer{local: true, err: parley.Errorf(parley.NotPermitted, "left").Because(parley.Unauthenticated)}},
		{"over TCP", peer{}},
	} {
		*w.peer = test.from
		w.assertRefused(t, test.name, decide, 401, parley.NotPermitted)
		for _, path := range []string{"/v1/whoami", "/v1/inbox", "/v1/events", "/v1/conversations", "/v1/approvals/" + id} {
			w.assertRefused(t, test.name+": "+path, request{path: path, header: decide.header}, 401, parley.NotPermitted)
		}
		w.assertRefused(t, test.name+": posting", request{path: "/v1/messages", body: aMessage, header: decide.header}, 401, parley.NotPermitted)
	}
	if got := w.send(request{as: "user", path: "/v1/approvals/" + id}); find(t, got.body, "state") != string(parley.ApprovalPending) {
		t.Errorf("it was decided: %s", got.body)
	}
	*w.peer = peer{agent: "hound", run: manager.Run.ID, local: true}
	if got := w.send(decide); got.status != http.StatusOK {
		t.Errorf("the manager's run itself: %d %s", got.status, got.body)
	}
	for _, actor := range []string{"arya", "hound", "user", parley.System} {
		if !w.refusalAudited(actor, "token of hound") {
			t.Errorf("what %s tried is not in the audit log", actor)
		}
	}
}

// A process of a run calls as the run without its token too: it is found by its ancestry.
func TestAProcessOfARunIsTheRunWithoutItsToken(t *testing.T) {
	w := newServedHub(t)
	given := w.startInstantRun("arya")
	*w.peer = peer{agent: "arya", run: given.Run.ID, local: true}
	if got := w.send(request{path: "/v1/whoami"}); find(t, got.body, "token") != given.Run.ID {
		t.Errorf("it is taken for %s", got.body)
	}
	_, err := w.FinishRun(ctx, given.Run.ID, parley.Result{Text: "done"}, nil)
	w.NoError(err)
	w.assertRefused(t, "after its end", request{path: "/v1/whoami"}, 401, parley.NotPermitted)
}

// Only an agent with reports may decide, and that is judged at the call.
func TestDecideIsForAgentsWithReports(t *testing.T) {
	w := newServedHub(t)
	given := w.startInstantRun("hound")
	bearer := in("Authorization", "Bearer "+given.Token)
	for _, test := range []struct {
		name   string
		from   peer
		header map[string]string
	}{
		{"by its token", peer{agent: "hound", run: given.Run.ID, local: true}, bearer},
		{"as its process", peer{agent: "hound", run: given.Run.ID, local: true}, nil},
		{"as its session", peer{agent: "hound", local: true}, nil},
	} {
		*w.peer = test.from
		for _, manager := range []string{"", "hound", ""} {
			w.setManager("arya", manager)
			want := `"scopes":["read","send"]`
			if manager != "" {
				want = `"scopes":["read","send","decide"]`
			}
			if got := w.send(request{path: "/v1/whoami", header: test.header}); !strings.Contains(got.body, want) {
				t.Errorf("%s, manager %q: it is %s, want %s", test.name, manager, got.body, want)
			}
		}
	}
}

// With run_token: bearer every process that has the token can use it over TCP, but never to decide, and not after the run.
func TestABearerTokenNeverDecides(t *testing.T) {
	w := newServedHub(t)
	w.setManager("arya", "hound")
	given := w.startRunWithToken("hound", parley.TokenBearer)
	id := w.notifySupervised("It is done").ID
	bearer := in("Authorization", "Bearer "+given.Token)
	decide := request{path: "/v1/approvals/" + id + "/decide", body: `{"approve":true}`, header: bearer}
	got := w.send(request{path: "/v1/whoami", header: bearer})
	if got.status != http.StatusOK || !strings.Contains(got.body, `"scopes":["read","send"]`) {
		t.Errorf("over TCP it is %d %s", got.status, got.body)
	}
	w.assertRefused(t, "deciding over TCP", decide, 403, parley.NotPermitted)
	*w.peer = peer{agent: "hound", run: given.Run.ID, local: true}
	w.assertRefused(t, "deciding on the socket", decide, 403, parley.NotPermitted)
	*w.peer = peer{agent: "arya", local: true}
	w.assertRefused(t, "another's process on the socket", request{path: "/v1/whoami", header: bearer}, 401, parley.NotPermitted)
	*w.peer = peer{}
	_, err := w.FinishRun(ctx, given.Run.ID, parley.Result{}, nil)
	w.NoError(err)
	w.assertRefused(t, "after the run", request{path: "/v1/whoami", header: bearer}, 401, parley.NotPermitted)
}

// What runs within the hub gets no token at all.
func TestARunWithinTheHubHasNoToken(t *testing.T) {
	w := newServedHub(t)
	if given := w.startRunWithToken("arya", ""); given.Token != "" || given.Caller().Token != "" || given.Caller().Run != given.Run.ID {
		t.Errorf("it has %+v", given)
	}
}

// A webhook's reply token is good only for one POST that answers a message that woke its run.
func TestReplyTokenIsForOneAnswer(t *testing.T) {
	w := newServedHub(t)
	given := w.startRunWithToken("arya", parley.TokenReply)
	foreign := w.startRunWithToken("hound", parley.TokenReply)
	bearer := in("Authorization", "Bearer "+given.Token)
	trigger := given.Messages[0].ID
	post := func(format string, args ...any) request {
		return request{path: "/v1/messages", header: bearer, body: fmt.Sprintf(format, args...)}
	}
	misuses := map[string]request{
		"elsewhere":                    post(`{"conversation":"square","content":{"text":"hello"}}`),
		"an answer, elsewhere":         post(`{"conversation":"square","in_reply_to":%q,"content":{"text":"hello"}}`, trigger),
		"to another":                   post(`{"in_reply_to":%q,"to":"hound","content":{"text":"hello"}}`, trigger),
		"a DM":                         post(`{"direct":["hound"],"content":{"text":"hello"}}`),
		"another run's trigger":        post(`{"in_reply_to":%q,"content":{"text":"hello"}}`, foreign.Messages[0].ID),
		"a task":                       post(`{"in_reply_to":%q,"type":"task","content":{"text":"hello"}}`, trigger),
		"within another trace":         post(`{"in_reply_to":%q,"trace_id":"others","content":{"text":"hello"}}`, trigger),
		"reading who it is":            {path: "/v1/whoami", header: bearer},
		"reading the trigger":          {path: "/v1/messages/" + trigger, header: bearer},
		"reading the inbox":            {path: "/v1/inbox", header: bearer},
		"taking":                       {path: "/v1/inbox/take", body: `{}`, header: bearer},
		"following events":             {path: "/v1/events", header: bearer},
		"contacting":                   {path: "/v1/contact", body: `{"action":"notify","agent":"hound","message":"hello"}`, header: bearer},
		"making a conversation":        {path: "/v1/conversations", body: `{"name":"mine"}`, header: bearer},
		"sleeping":                     {path: "/v1/agents/arya/sleep", body: `{"for":60}`, header: bearer},
		"storing an artifact":          {path: "/v1/artifacts", method: http.MethodPost, header: bearer},
		"as another":                   {path: "/v1/messages", body: aMessage, header: in("Authorization", "Bearer "+given.Token, "Parley-As", "hound")},
		"as a session":                 {path: "/v1/whoami", header: in("Cookie", "parley_session="+given.Token)},
		"on the socket, reading":       {path: "/v1/agents", header: bearer},
		"deciding":                     {path: "/v1/approvals/1/decide", body: `{"approve":true}`, header: bearer},
		"reading the conversation":     {path: "/v1/conversations/" + given.Run.Conversation + "/messages", header: bearer},
		"acknowledging what it is for": {path: "/v1/messages/" + trigger + "/ack", body: `{}`, header: bearer},
	}
	for name, misuse := range misuses {
		if got := w.send(misuse); got.status != 401 && got.status != 403 && got.status != 404 && got.status != 405 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	answer := post(`{"in_reply_to":%q,"content":{"text":"It is done"}}`, trigger)
	w.assertRefused(t, "what is refused does not use it up", post(`{"in_reply_to":%q,"from":"hound","content":{"text":"x"}}`, trigger), 403, parley.NotPermitted)
	var all sync.WaitGroup
	received := [8]string{}
	for i := range received {
		all.Go(func() { received[i] = receipt(t, w.send(answer)) })
	}
	all.Wait()
	slices.Sort(received[:])
	first := strings.TrimPrefix(received[7], "201 ")
	if want := slices.Repeat([]string{"200 " + first}, 7); !slices.Equal(received[:7], want) || received[7] != "201 "+first {
		t.Errorf("eight answers at once: %q", received)
	}
	others := map[string]request{
		"another text":  post(`{"in_reply_to":%q,"content":{"text":"It is not done"}}`, trigger),
		"another key":   post(`{"in_reply_to":%q,"idempotency_key":"k","content":{"text":"It is done"}}`, trigger),
		"another reply": post(`{"in_reply_to":%q,"content":{"text":"It is done"}}`, foreign.Messages[0].ID),
	}
	used := func(when string) {
		t.Helper()
		if got := receipt(t, w.send(answer)); got != "200 "+first {
			t.Errorf("%s, the same answer gets %s, want the receipt of %s", when, got, first)
		}
		for name, other := range others {
			w.assertRefused(t, when+", "+name, other, 401, parley.NotPermitted)
		}
		for name, misuse := range misuses {
			if got := w.send(misuse); got.status != 401 && got.status != 403 && got.status != 404 && got.status != 405 {
				t.Errorf("%s, %s: %d %s", when, name, got.status, got.body)
			}
		}
	}
	used("once it is used up")
	_, err := w.FinishRun(ctx, given.Run.ID, parley.Result{}, nil)
	w.NoError(err)
	used("after the run")
	if !w.refusalAudited("arya", "") { // the same refusal is written once, with what was tried first
		t.Error("no misuse is in the audit log")
	}
}

// receipt is the status of an answer, and the message that it is the receipt of.
func receipt(t *testing.T, got reply) string {
	t.Helper()
	var body struct{ Message struct{ ID string } }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Error(err)
	}
	return fmt.Sprint(got.status, " ", body.Message.ID)
}

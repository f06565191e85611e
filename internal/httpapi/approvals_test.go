package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
)

const aNotice = `{"action":"notify","agent":"gendry","message":"It is done"}`

// TestHeldCallsAreAccepted: 202 says what a call waits for, and the same call waits for the same.
func TestHeldCallsAreAccepted(t *testing.T) {
	w := newServedHub(t)
	w.setMode("arya", parley.ModeSupervised)
	got := w.send(request{as: "arya", path: "/v1/contact", body: aNotice})
	if got.status != http.StatusAccepted || find(t, got.body, "text") != parley.HeldText || find(t, got.body, "approval.state") != "pending" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	again := w.send(request{as: "arya", path: "/v1/contact", body: aNotice})
	if find(t, again.body, "approval.id") != find(t, got.body, "approval.id") {
		t.Errorf("the same call waits for %s and %s", find(t, got.body, "approval.id"), find(t, again.body, "approval.id"))
	}
}

// TestApprovalReuse: an approval is good for one call, as it was, once.
func TestApprovalReuse(t *testing.T) {
	w := newServedHub(t)
	w.setMode("arya", parley.ModeSupervised)
	held := w.send(request{as: "arya", path: "/v1/contact", body: aNotice})
	id := find(t, held.body, "approval.id")
	decided := w.send(request{as: "rickon", path: "/v1/approvals/" + id + "/decide", body: `{"approve":true}`})
	if decided.status != http.StatusOK || find(t, decided.body, "state") != "executed" {
		t.Fatalf("got %d %s", decided.status, decided.body)
	}
	if n := w.countFromArya("gendry"); n != 1 {
		t.Fatalf("the call was made %d times", n)
	}
	w.assertRefused(t, "again", request{as: "rickon", path: "/v1/approvals/" + id + "/decide", body: `{"approve":true}`}, 409, parley.BadInput)
	for name, body := range map[string]string{"the same call": aNotice, "another argument": strings.Replace(aNotice, "done", "undone", 1)} {
		got := w.send(request{as: "arya", path: "/v1/contact", body: body})
		if got.status != http.StatusAccepted || find(t, got.body, "approval.id") == id {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if n := w.countFromArya("gendry"); n != 1 {
		t.Errorf("calls were made %d times", n)
	}
}

// countFromArya is how often an agent was told what arya has to say.
func (w *servedHub) countFromArya(agent string) (n int) {
	w.T.Helper()
	peeked, err := w.Peek(ctx, as(agent), 100)
	w.NoError(err)
	for _, m := range peeked.Messages {
		if m.From == "arya" {
			n++
		}
	}
	return n
}

// TestNobodyDecidesItsOwnCall: not the agent with its token, not its run, not somebody whom it does not concern.
func TestNobodyDecidesItsOwnCall(t *testing.T) {
	w := newServedHub(t)
	run := w.startInstantRun("arya")
	id := w.notifySupervised("It is done").ID
	decide := request{path: "/v1/approvals/" + id + "/decide", body: `{"approve":true}`}
	decide.as = "arya"
	w.assertRefused(t, "the agent's token", decide, 403, parley.NotPermitted)
	decide.as, decide.header = "", in("Authorization", "Bearer "+run.Token)
	*w.peer = peer{agent: "arya", run: run.Run.ID, local: true}
	w.assertRefused(t, "its run's token", decide, 403, parley.NotPermitted)
	*w.peer = peer{}
	decide.as, decide.header = "hound", nil
	w.assertRefused(t, "somebody else", decide, 404, parley.BadInput)
	w.tokens["reader"] = w.MakeToken("rickon", parley.ScopeRead, parley.ScopeSend).Secret
	decide.as = "reader"
	w.assertRefused(t, "the manager, with a token for less", decide, 403, parley.NotPermitted)
	if n := w.countFromArya("gendry"); n != 0 {
		t.Errorf("the call was made %d times", n)
	}
}

// TestADecisionMustBeSaid: nothing stands for a no, or for a yes.
func TestADecisionMustBeSaid(t *testing.T) {
	w := newServedHub(t)
	path := "/v1/approvals/" + w.notifySupervised("It is done").ID + "/decide"
	for _, body := range []string{`{}`, `{"note":"hm"}`, `{"approve":null}`, `{"approve":"yes"}`} {
		w.assertRefused(t, body, request{as: "rickon", path: path, body: body}, 400, parley.BadInput)
	}
}

// TestOperationsThatCanBeHeldAreDescribed calls every operation as an agent that may do nothing by itself: what waits for an
// approval says so in the document, and nothing else does.
func TestOperationsThatCanBeHeldAreDescribed(t *testing.T) {
	s := newStory(t)
	doc := readDocument(t)
	schemas := newSchemas(t, doc)
	arya := principal{"arya", "arya", parley.AllScopes(), "token"}
	for n, op := range httpapi.Routes() {
		if op.Hidden || op.AnswerType == "text/event-stream" || expects(op, arya) != http.StatusOK {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s.t, s.servedHub.T = t, t
			st := s.example(op, arya, fmt.Sprintf("held-%d", n))
			s.setMode("arya", parley.ModeStrict)
			defer s.setMode("arya", parley.ModeAutonomous)
			got := s.asPrincipal(arya, s.request(st))
			own := strings.Contains(op.Path, "{task}") || op.ID == "await-outcome" // it is arya's, which is never held
			if held := got.status == http.StatusAccepted; held != (op.Held && !own) {
				t.Errorf("held: %t, described: %t: %d %s", held, op.Held, got.status, got.body)
			}
			if err := schemas.check(op.Path, strings.ToLower(op.Method), got); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHeldCallsKeepTheirArguments: what is approved is what was sent, key by key.
func TestHeldCallsKeepTheirArguments(t *testing.T) {
	w := newServedHub(t)
	w.setMode("arya", parley.ModeSupervised)
	held := w.send(request{as: "arya", path: "/v1/contact", body: `{"action":"delegate","agent":"gendry","message":"Forge <it> & go","priority":"high"}`})
	shown := w.send(request{as: "rickon", path: "/v1/approvals/" + find(t, held.body, "approval.id")})
	var a parley.Approval
	w.NoError(json.Unmarshal([]byte(shown.body), &a))
	var args parley.Contact
	w.NoError(json.Unmarshal(a.Call.Args, &args))
	if a.Call.Tool != "contact_agent" || args.Pattern != parley.PatternDelegate || args.Message != "Forge <it> & go" || args.Priority.Word() != "high" {
		t.Errorf("the call is %s %s", a.Call.Tool, a.Call.Args)
	}
}

package cli

import (
	"strings"
	"testing"
)

const (
	pendingApproval = `{"id":"a1","number":7,"state":"pending","agent":"intern","target":"analyst","rule":"the rule intern → analyst",` +
		`"call":{"tool":"contact_agent","args":{"action":"ask","agent":"analyst","message":"Can you validate my analysis approach?"}},` +
		`"summary":"InternBot wants to contact SeniorAnalystBot:\nAction: ask\nMessage: \"Can you validate my analysis approach?\"\n\n[Approve] [Deny]",` +
		`"decider":"boss","created_at":"2030-01-02T10:00:00Z"}`
	decidedApproval = `{"id":"a2","state":"executed","agent":"intern","call":{"tool":"reply","args":{"text":"x"}},"summary":"s","created_at":"2030-01-02T10:00:00Z",` +
		`"decided_by":"user","decided_at":"2030-01-02T10:05:00Z","note":"once","failure":{"code":"E002","message":"it is offline"}}`
)

func TestApprovals(t *testing.T) {
	runSessions(t, "GET /v1/approvals", []session{
		{
			name: "pending ones", args: []string{"approval", "list"}, answer: `{"items":[` + pendingApproval + `]}`, asks: "GET /v1/approvals?state=pending",
			out: `APPROVAL    AGENT   CALL                                                  SINCE                 STATE    DECIDER  NOTE
approval-7  intern  ask analyst "Can you validate my analysis approach?"  2030-01-02T10:00:00Z  pending  boss
`,
		},
		{
			name: "all of them", args: []string{"approval", "list", "--all", "--mine", "--agent", "intern"}, answer: `{"items":[` + decidedApproval + `]}`,
			asks: "GET /v1/approvals?agent=intern&mine=true",
			out: `APPROVAL  AGENT   CALL       SINCE                 STATE     DECIDER  NOTE
a2        intern  reply "x"  2030-01-02T10:00:00Z  executed  user     once
`,
		},
		{
			name: "a post", args: []string{"approval", "list"}, asks: "GET /v1/approvals?state=pending",
			answer: `{"items":[{"id":"a3","state":"pending","agent":"intern","target":"pat","created_at":"2030-01-02T10:00:00Z",` +
				`"call":{"tool":"send_channel_message","args":{"direct":["pat"],"content":{"text":"hello"}}}}]}`,
			out: `APPROVAL  AGENT   CALL                              SINCE                 STATE    DECIDER   NOTE
a3        intern  send_channel_message pat "hello"  2030-01-02T10:00:00Z  pending  an owner
`,
		},
	})
	runSessions(t, "GET /v1/approvals/a1", []session{
		{
			name: "the request as it is", args: []string{"approval", "show", "a1"}, answer: pendingApproval, asks: "GET /v1/approvals/a1",
			out: `InternBot wants to contact SeniorAnalystBot:
Action: ask
Message: "Can you validate my analysis approach?"

[Approve] [Deny]

approval  approval-7
id        a1
state     pending
reason    the rule intern → analyst
since     2030-01-02T10:00:00Z
decider   boss
`,
		},
		{
			name: "what became of it", args: []string{"approval", "show", "a1"}, answer: decidedApproval, asks: "GET /v1/approvals/a1",
			out: `s

approval    a2
id          a2
state       executed
since       2030-01-02T10:00:00Z
decided by  user
decided     2030-01-02T10:05:00Z
note        once
error       E002: it is offline
`,
		},
	})
	runSessions(t, "POST /v1/approvals/a2/decide", []session{
		{
			name: "yes", args: []string{"approval", "approve", "a2"}, answer: decidedApproval, asks: `POST /v1/approvals/a2/decide {"approve":true}`,
			out: "approved  intern  a2\n", err: "note: the call was approved, but failed: E002: it is offline\n",
		},
		{
			name: "no", args: []string{"approval", "deny", "a2", "--note", "ask first"}, answer: `{"id":"a2","state":"denied","agent":"intern"}`,
			asks: `POST /v1/approvals/a2/decide {"approve":false,"note":"ask first"}`, out: "denied  intern  a2\n",
		},
		{
			name: "not one's own", args: []string{"approval", "approve", "a2"}, answer: `problem {"code":"E001","detail":"nobody decides about its own call"}`,
			asks: `POST /v1/approvals/a2/decide {"approve":true}`, code: exitDenied, err: "parley: E001: nobody decides about its own call\n",
		},
	})
}

// TestManyDecisionsAreIndependent: one that fails does not stop the others, and its exit code is that of the command.
func TestManyDecisionsAreIndependent(t *testing.T) {
	hub := newFakeHub(t, map[string]string{
		"POST /v1/approvals/6/decide": `{"id":"a6","number":6,"state":"denied","agent":"intern"}`,
		"POST /v1/approvals/7/decide": `problem {"code":"E001","detail":"nobody decides about its own call"}`,
		"POST /v1/approvals/8/decide": `{"id":"a8","number":8,"state":"denied","agent":"ned"}`,
	})
	var out, errs strings.Builder
	code := Run([]string{"approval", "deny", "6", "7", "8", "--note", "no"}, strings.NewReader(""), &out, &errs)
	if code != exitDenied || out.String() != "denied  intern  approval-6\ndenied  ned  approval-8\n" || errs.String() != "parley: E001: nobody decides about its own call\n" {
		t.Errorf("exit code %d\n%s\n%s", code, out.String(), errs.String())
	}
	if len(hub.asked) != 3 {
		t.Errorf("the hub was asked %q", hub.asked)
	}
}

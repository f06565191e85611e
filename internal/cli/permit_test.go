package cli

import "testing"

func TestRules(t *testing.T) {
	runSessions(t, "PUT /v1/permissions", []session{
		{
			name: "allowed", args: []string{"permit", "allow", "intern", "*", "--requires-approval", "--human"},
			answer: `{"agent":"intern","target":"*","effect":"allow","requires_approval":true,"requires_human":true}`,
			asks:   `PUT /v1/permissions {"agent":"intern","target":"*","effect":"allow","requires_approval":true,"requires_human":true}`,
			out:    "allowed with approval by a person  intern → *\n",
		},
		{
			name: "denied", args: []string{"permit", "deny", "intern", "ceo"}, answer: `{"agent":"intern","target":"ceo","effect":"deny"}`,
			asks: `PUT /v1/permissions {"agent":"intern","target":"ceo","effect":"deny"}`, out: "denied  intern → ceo\n",
		},
		{
			name: "allowed by a person", args: []string{"permit", "allow", "intern", "ceo", "--human"},
			answer: `{"agent":"intern","target":"ceo","effect":"allow","requires_approval":true,"requires_human":true}`,
			asks:   `PUT /v1/permissions {"agent":"intern","target":"ceo","effect":"allow","requires_human":true}`,
			out:    "allowed with approval by a person  intern → ceo\n",
		},
	})
	runSessions(t, "DELETE /v1/permissions", []session{{
		name: "removed", args: []string{"permit", "remove", "intern", "ceo", "--only", "deny"},
		asks: `DELETE /v1/permissions?agent=intern&effect=deny&target=ceo`, out: "removed  intern → ceo\n",
	}})
	runSessions(t, "GET /v1/permissions", []session{{
		name: "listed", args: []string{"permit", "list", "intern"}, asks: "GET /v1/permissions?agent=intern",
		answer: `{"items":[{"agent":"intern","target":"analyst","effect":"allow","requires_approval":true,"created_by":"user","created_at":"2030-01-02T10:00:00Z"}]}`,
		out:    "AGENT   TARGET   RULE                 BY    SINCE\nintern  analyst  allow with approval  user  2030-01-02T10:00:00Z\n",
	}})
}

func TestARuleIsExplained(t *testing.T) {
	const checks = `"checks":[{"rule":"manager and direct reports","result":"passed on"},{"rule":"the rule for ceo","result":"%"}]`
	runSessions(t, "GET /v1/permissions/check", []session{
		{
			name: "denied", args: []string{"permit", "check", "intern", "ceo"}, asks: "GET /v1/permissions/check?from=intern&to=ceo", code: exitDenied,
			answer: `{"allowed":false,"rule":"intern may not contact ceo",` + checks + `,"error":{"code":"E001","message":"no","suggestion":"ask boss"}}`,
			out:    "denied  intern → ceo  intern may not contact ceo\nmanager and direct reports  passed on\nthe rule for ceo            %\n",
			err:    "E001: no (ask boss)\n",
		},
		{
			name: "allowed with approval", args: []string{"permit", "check", "intern", "ceo"}, asks: "GET /v1/permissions/check?from=intern&to=ceo",
			answer: `{"allowed":true,"requires_approval":true,"rule":"the rule for ceo",` + checks + `}`,
			out:    "allowed with approval  intern → ceo  the rule for ceo\nmanager and direct reports  passed on\nthe rule for ceo            %\n",
		},
	})
}

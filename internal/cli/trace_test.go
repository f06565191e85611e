package cli

import "testing"

// TestTraceThatIsCutSaysSo: the tree in its first line, what a program reads beside it.
func TestTraceThatIsCutSaysSo(t *testing.T) {
	const answer = `{"items":[{"id":"m1","from":"arya","type":"chat","content":{"text":"hello"}}],"cut":true}`
	const says = "only the newest 1 messages are shown, the trace has more\n"
	runSessions(t, "GET /v1/traces/t", []session{
		{name: "tree", args: []string{"trace", "t"}, answer: answer, asks: "GET /v1/traces/t", out: says + "m1  arya  hello\n"},
		{
			name: "diagram", args: []string{"trace", "t", "--mermaid"}, answer: answer, asks: "GET /v1/traces/t", err: "note: " + says,
			out: "sequenceDiagram\n    participant p1 as arya\n    Note over p1: " + says + "    Note over p1: chat hello\n",
		},
	})
}

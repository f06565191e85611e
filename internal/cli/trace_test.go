package cli

import (
	"strings"
	"testing"
)

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

func TestATraceShowsWhoDecided(t *testing.T) {
	newFakeHub(t, map[string]string{"GET /v1/traces/t": `{"items":[{"id":"m1","seq":1,"from":"parley","trace_id":"t","content":{"text":"ana wants to contact ben:"},
		"approval":{"name":"approval-1","state":"executed","decided_by":"user"}}]}`})
	var out, errs strings.Builder
	if code := Run([]string{"trace", "t"}, strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if want := "m1  parley (approval-1 executed, decided by user)  "; !strings.Contains(out.String(), want) {
		t.Errorf("without %q:\n%s", want, out.String())
	}
	out.Reset()
	if code := Run([]string{"trace", "t", "--mermaid"}, strings.NewReader(""), &out, &errs); code != exitDone || !strings.Contains(out.String(), "approval-1 executed, decided by user") {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
}

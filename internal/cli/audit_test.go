package cli

import (
	"strings"
	"testing"
)

// TestTheAuditLogNamesApprovals: entries of an older hub have only the id.
func TestTheAuditLogNamesApprovals(t *testing.T) {
	newFakeHub(t, map[string]string{"GET /v1/audit": `{"items":[
		{"num":1,"at":"2030-01-02T10:00:00Z","actor":"boss","act":"approval.approved","subject":"a-1","detail":{"approval":"approval-1"}},
		{"num":2,"at":"2030-01-02T10:00:00Z","actor":"boss","act":"approval.denied","subject":"a-2","detail":{"note":""}},
		{"num":3,"at":"2030-01-02T10:00:00Z","actor":"user","act":"agent.add","subject":"ana"}]}`})
	var out, errs strings.Builder
	if code := Run([]string{"audit", "list"}, strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"approval.approved  approval-1 (a-1)  ", "approval.denied    a-2  ", "agent.add          ana"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
}

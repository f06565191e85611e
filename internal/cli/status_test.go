package cli

import (
	"strings"
	"testing"
)

const needsAll = `{"items":[
	{"kind":"approval","id":"a","name":"approval-7","from":"intern","recipient":"senior","text":"InternBot wants to contact senior: ask \"deploy?\"","since":"2026-01-02T03:04:05Z"},
	{"kind":"dead_letter","id":"d","name":"m12","from":"user","recipient":"frail","text":"frail did not do this","since":"2026-01-02T03:04:05Z"},
	{"kind":"ask","id":"q","name":"m20","from":"b","text":"which one?","since":"2026-01-02T03:04:05Z"},
	{"kind":"task","id":"task-3","name":"task-3","from":"b","text":"Review it","since":"2026-01-02T03:04:05Z"},
	{"kind":"ack","id":"k","name":"m30","from":"b","text":"confirm","since":"2026-01-02T03:04:05Z"}],
	"totals":{"approval":3,"dead_letter":1,"ask":1,"task":1,"ack":1},"unread":2}`

const twoFull = `{"version":"1","started_at":"2026-01-02T03:04:05Z","alerts":[
	{"name":"depth","agent":"arya","message":"the inbox of arya has 81 of 100 messages","suggestion":"see arya","severity":0.81},
	{"name":"depth","agent":"ned","message":"the inbox of ned has 99 of 100 messages","suggestion":"see ned","severity":0.99}]}`

func printedStatus(t *testing.T, needs string, args ...string) string {
	t.Helper()
	newFakeHub(t, map[string]string{"GET /v1/status": twoFull, "GET /v1/attention": needs, "GET /v1/bridges": `{"items":[]}`})
	var out, errs strings.Builder
	if code := Run(append([]string{"status"}, args...), strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return out.String()
}

func TestStatusBeginsWithItemsThatNeedYou(t *testing.T) {
	want := `needs you:
  approval-7  InternBot wants to contact senior: ask "deploy?"
              parley approval approve approval-7 (or: parley approval deny approval-7)
  m12         dead letter from user to frail: frail did not do this
              parley dead retry m12 frail (or: parley dead drop m12 frail)
  m20         b asks: which one?
              parley reply m20 "…"
  task-3      task from b: Review it
              parley task complete task-3 "…"
  m30         b requires an ack: confirm
              parley ack m30
              2 more: parley approval list --mine
2 messages are unread: parley inbox

running `
	if got := printedStatus(t, needsAll); !strings.HasPrefix(got, want) {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
	const nothing = "nothing needs you\n\nrunning "
	if got := printedStatus(t, `{"items":[],"totals":{},"unread":0}`); !strings.HasPrefix(got, nothing) {
		t.Errorf("it prints\n%s\nwant\n%s", got, nothing)
	}
	if got := printedStatus(t, needsAll, "-o", "json"); !strings.Contains(got, `"needs_you": {`) || !strings.Contains(got, `"name": "approval-7"`) {
		t.Errorf("the JSON has no needs_you: %s", got)
	}
}

func TestStatusGroupsAlertsOfOneKind(t *testing.T) {
	quiet := `{"items":[],"totals":{},"unread":0}`
	const grouped = "alert  2 inboxes are filling up; the worst: the inbox of ned has 99 of 100 messages\n       list every alert: parley status --alerts\n"
	if got := printedStatus(t, quiet); !strings.HasSuffix(got, grouped) {
		t.Errorf("it prints\n%s\nwant\n%s", got, grouped)
	}
	if got := printedStatus(t, quiet, "--alerts"); strings.Count(got, "of 100 messages") != 2 || strings.Contains(got, "filling up") {
		t.Errorf("it prints\n%s", got)
	}
}

package cli

import (
	"slices"
	"strings"
	"testing"
)

const twoMessages = `{"waking":5,"quiet":0,"work":0,"evicted":0,"more":3,
	"deliveries":[{"message":"m2"},{"message":"m1"}],
	"messages":[{"id":"m2","from":"arya","type":"chat","content":{"text":"the newer"}},{"id":"m1","from":"arya","type":"chat","content":{"text":"the older"}}]}`

func inboxOf(t *testing.T, kind string, args ...string) (hub *fakeHub, out, errs string) {
	t.Helper()
	hub = newFakeHub(t, map[string]string{
		"GET /v1/whoami": `{"agent":{"id":"somebody","kind":"` + kind + `"}}`, "GET /v1/inbox": twoMessages,
		"POST /v1/inbox/shown": `{"items":[]}`, "POST /v1/inbox/take": `{"deliveries":[],"messages":[]}`,
	})
	var stdout, stderr strings.Builder
	if code := Run(append([]string{"inbox"}, args...), strings.NewReader(""), &stdout, &stderr); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	return hub, stdout.String(), stderr.String()
}

func TestAPersonReadsTheNewestFirstAndSettlesIt(t *testing.T) {
	hub, out, errs := inboxOf(t, "human")
	if strings.Index(out, "the newer") > strings.Index(out, "the older") || !strings.Contains(errs, "note: the inbox has 3 more; see them: parley inbox --limit 5") {
		t.Errorf("it prints\n%s\nand says\n%s", out, errs)
	}
	want := []string{"GET /v1/whoami", "GET /v1/inbox?newest=true", `POST /v1/inbox/shown {"messages":["m2","m1"]}`}
	if !slices.Equal(hub.asked, want) {
		t.Errorf("the hub was asked %q, want %q", hub.asked, want)
	}
	hub, _, _ = inboxOf(t, "human", "--peek")
	if got := hub.last(); got != "GET /v1/inbox?newest=true" {
		t.Errorf("peeking asks %q", got)
	}
}

func TestAnAgentTakesInOrder(t *testing.T) {
	hub, _, _ := inboxOf(t, "agent")
	if got := hub.last(); !strings.HasPrefix(got, "POST /v1/inbox/take") {
		t.Errorf("the hub was asked %q", got)
	}
	hub, _, _ = inboxOf(t, "agent", "--peek")
	if got := hub.last(); got != "GET /v1/inbox" {
		t.Errorf("peeking asks %q", got)
	}
}

func TestSendReportsTheAnswerItHasShown(t *testing.T) {
	hub := newFakeHub(t, map[string]string{
		"POST /v1/messages":   `{"message":{"id":"m1"},"deliveries":[{"message":"m1","recipient":"arya","state":"accepted","waking":true}]}`,
		"GET /v1/messages/m1": `{"id":"m1","deliveries":[{"recipient":"arya","state":"answered","waking":true,"answer":"m2","answered_at":"2030-01-02T03:04:05Z"}]}`,
		"GET /v1/messages/m2": `{"id":"m2","from":"arya","content":{"text":"here I am"}}`,
		"GET /v1/who":         `{"items":[]}`, "POST /v1/inbox/shown": `{"items":[]}`,
	})
	var out, errs strings.Builder
	if code := Run([]string{"send", "arya", "hello", "--wait"}, strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if got, want := hub.last(), `POST /v1/inbox/shown {"messages":["m2"]}`; got != want {
		t.Errorf("the hub was asked %q last, want %q", got, want)
	}
}

// TestARequestForApprovalNamesTheNextStep: only a message of the hub has one.
func TestARequestForApprovalNamesTheNextStep(t *testing.T) {
	const next = "  parley approval approve approval-4 (or: parley approval deny approval-4)\n"
	for from, want := range map[string]bool{"parley": true, "arya": false} {
		newFakeHub(t, map[string]string{
			"GET /v1/whoami": `{"agent":{"id":"user","kind":"human"}}`, "POST /v1/inbox/shown": `{"items":[]}`,
			"GET /v1/inbox": `{"waking":1,"deliveries":[{"message":"m1"}],"messages":[{"id":"m1","seq":1,"from":"` + from + `","type":"request","source":"approval",` +
				`"content":{"text":"arya wants to contact ned:"},"payload":{"approval":"a-1","name":"approval-4"}}]}`,
		})
		var out, errs strings.Builder
		if code := Run([]string{"inbox"}, strings.NewReader(""), &out, &errs); code != exitDone {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		if strings.HasSuffix(out.String(), next) != want {
			t.Errorf("from %s:\n%s", from, out.String())
		}
	}
}

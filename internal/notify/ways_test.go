package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestWebhookIsSigned(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - webhook: {url: '"+box.URL+"/hook', secret_file: "+secretFile(t, "shared-secret")+"}\n")
	a := w.postHeldMessage("hello")
	w.sendDue()
	w.sendDue()
	if len(box.got) != 1 {
		t.Fatalf("it was called %d times", len(box.got))
	}
	got := box.got[0]
	mac := hmac.New(sha256.New, []byte("shared-secret"))
	mac.Write([]byte(got.header.Get("Parley-Timestamp") + "." + string(got.body)))
	if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); got.header.Get("Parley-Signature") != want || got.path != "/hook" {
		t.Errorf("the signature is %q, want %q", got.header.Get("Parley-Signature"), want)
	}
	var said struct {
		ID, Kind, Person, Title, Text, Link string
		CreatedAt                           time.Time `json:"created_at"`
		Attempt                             int
		Approval                            parley.Approval
	}
	strictly(t, got.body, &said)
	if said.ID == "" || got.header.Get("Idempotency-Key") != said.ID || said.Kind != "approval" || said.Person != "user" ||
		said.Text != a.Summary || said.Approval.ID != a.ID || said.Attempt != 1 {
		t.Errorf("it says %s", got.body)
	}
	if response, err := http.Get(said.Link); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the link %s leads nowhere: %v", said.Link, err)
	}
}

// TestNoticesAreRetriedOnlyByTheFailedWay fails one of two ways, and restarts in between.
func TestNoticesAreRetriedOnlyByTheFailedWay(t *testing.T) {
	good, bad := newRequestRecorder(t), newRequestRecorder(t)
	secret := secretFile(t, "shared-secret")
	w := newNotifiedHub(t, "user:\n  - webhook: {url: '"+good.URL+"', secret_file: "+secret+"}\n  - webhook: {url: '"+bad.URL+"/canary', secret_file: "+secret+"}\n")
	bad.status = http.StatusInternalServerError
	w.postHeldMessage("hello")
	w.sendDue()
	w.Clock.Advance(14 * time.Second)
	w.sendDue()
	if len(good.got) != 1 || len(bad.got) != 1 {
		t.Fatalf("sent %d and %d times", len(good.got), len(bad.got))
	}
	w.restart()
	w.Clock.Advance(time.Second)
	w.sendDue()
	bad.status = http.StatusNoContent
	w.Clock.Advance(30 * time.Second)
	w.sendDue()
	w.Clock.Advance(24 * time.Hour)
	w.sendDue()
	if len(good.got) != 1 || len(bad.got) != 3 {
		t.Errorf("sent %d and %d times", len(good.got), len(bad.got))
	}
	if first, last := bad.got[0].header.Get("Idempotency-Key"), bad.got[2].header.Get("Idempotency-Key"); first != last {
		t.Errorf("the keys are %s and %s", first, last)
	}
	bad.status = http.StatusBadGateway
	w.postHeldMessage("something else")
	for range 12 {
		w.sendDue()
		w.Clock.Advance(time.Hour)
	}
	if len(bad.got) != 13 || !strings.Contains(w.logged.String(), "cannot notify user of approval/") {
		t.Errorf("tried %d times, and logged %s", len(bad.got)-3, w.logged)
	}
	if strings.Contains(w.logged.String(), "canary") {
		t.Errorf("the URL is in the log: %s", w.logged)
	}
}

// TestNotifierSSRF is about the threat of that name: see the webhooks of agents.
func TestNotifierSSRF(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - webhook: {url: '"+box.URL+"', secret_file: "+secretFile(t, "shared-secret")+"}\n  - ntfy: {url: '"+box.URL+"/topic'}\n")
	var err error
	o := w.notifier.o
	o.Allow = nil
	w.notifier, err = New(w.Hub, o)
	w.NoError(err)
	w.postHeldMessage("hello")
	w.sendDue()
	if len(box.got) != 0 {
		t.Error("a private address was called")
	}
}

type ntfyMessage struct {
	Topic, Title, Message, Click string
	Priority                     int
	Actions                      []struct {
		Action, Label, URL, Method, Body string
		Headers                          map[string]string
		Clear                            bool
	}
}

func TestNtfyHasButtonsThatDecide(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - ntfy: {url: '"+box.URL+"/below/my-topic', token_file: "+secretFile(t, "tk_secret")+"}\n")
	for _, c := range []struct {
		label, name string
		state       parley.ApprovalState
	}{{"Approve approval-1", "approval-1", parley.ApprovalExecuted}, {"Deny approval-2", "approval-2", parley.ApprovalDenied}} {
		a := w.postHeldMessage(c.label + " " + hostile)
		w.sendDue()
		got := box.got[len(box.got)-1]
		var m ntfyMessage
		strictly(t, got.body, &m)
		if got.path != "/below/" || got.header.Get("Authorization") != "Bearer tk_secret" || m.Topic != "my-topic" || m.Priority != 4 ||
			m.Title != "arya needs your approval ("+c.name+")" || len(m.Actions) != 3 || m.Click != m.Actions[0].URL || m.Actions[0].Action != "view" {
			t.Fatalf("%s has %v and %s", got.path, got.header, got.body)
		}
		if strings.ContainsAny(m.Message, "\u202e\u202c\x1b") || strings.Contains(m.Message, "[Approve]") || !strings.Contains(m.Message, "*bold*") {
			t.Errorf("the text is %q", m.Message)
		}
		for _, action := range m.Actions[1:] {
			if action.Label != c.label {
				continue
			}
			request, err := http.NewRequestWithContext(t.Context(), action.Method, action.URL, strings.NewReader(action.Body))
			w.NoError(err)
			for name, value := range action.Headers {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			w.NoError(err)
			w.NoError(response.Body.Close())
			if action.Action != "http" || response.StatusCode != http.StatusOK {
				t.Errorf("the button %s does %s: %d", action.Label, action.Action, response.StatusCode)
			}
		}
		if now := w.ApprovalByID(a.ID); now.State != c.state || now.DecidedBy != "user" {
			t.Errorf("%s: it is %s by %q", c.label, now.State, now.DecidedBy)
		}
	}
	w.restart()
	w.Clock.Advance(time.Hour)
	w.sendDue()
	if len(box.got) != 2 {
		t.Errorf("it was told %d times", len(box.got))
	}
}

// TestLongRequestsHaveNoDecisionButtons: where a text is too long, there is only the way to all of it.
func TestLongRequestsHaveNoDecisionButtons(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - ntfy: {url: '"+box.URL+"/my-topic'}\n")
	w.postHeldMessage(strings.Repeat("é", 5000))
	w.sendDue()
	var m ntfyMessage
	strictly(t, box.got[0].body, &m)
	if len(m.Message) > 4096 || len(m.Actions) != 1 || m.Actions[0].Action != "view" || box.got[0].header.Get("Authorization") != "" {
		t.Errorf("it has %d bytes and the buttons %v", len(m.Message), m.Actions)
	}
}

// TestNoticesWithoutALinkCannotDecide: without a link, whoever is told cannot decide.
func TestNoticesWithoutALinkCannotDecide(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - ntfy: {url: '"+box.URL+"/my-topic', without_link: true}\n"+
		"  - webhook: {url: '"+box.URL+"', without_link: true, secret_file: "+secretFile(t, "shared-secret")+"}\n")
	w.postHeldMessage("hello")
	w.sendDue()
	if len(box.got) != 2 {
		t.Fatalf("%d were told", len(box.got))
	}
	for _, got := range box.got {
		if strings.Contains(string(got.body), "/approve/") {
			t.Errorf("it says %s", got.body)
		}
	}
}

func TestADecidedApprovalIsNotSent(t *testing.T) {
	box := newRequestRecorder(t)
	w := newNotifiedHub(t, "user:\n  - ntfy: {url: '"+box.URL+"/my-topic'}\n")
	a := w.postHeldMessage("hello")
	w.DecideAs(parley.Owner, a.ID, parley.Decision{})
	w.sendDue()
	if len(box.got) != 0 {
		t.Error("it was sent")
	}
}

func TestAProgramGetsTheNoticeAndNoSecrets(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	w := newNotifiedHub(t, "user:\n  - command: ["+os.Args[0]+", tell, "+out+"]\n")
	w.postHeldMessage("$(touch x); " + hostile)
	w.sendDue()
	text, err := os.ReadFile(out)
	w.NoError(err)
	said, environ, _ := strings.Cut(string(text), "--\n")
	if !strings.HasPrefix(said, "arya needs your approval (approval-1)\n\narya wants to ") || !strings.Contains(said, "$(touch x)") ||
		!strings.Contains(said, "\n\nDecide: "+w.server.URL+"/approve/parley_") || strings.Contains(said, "\x1b") {
		t.Errorf("it is told %q", said)
	}
	if strings.Contains(environ, "canary") || !strings.Contains(environ, "LANG=C") {
		t.Errorf("it gets %s", environ)
	}
}

func TestAProgramThatFailsIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "not yet", "out")
	w := newNotifiedHub(t, "user:\n  - command: ["+os.Args[0]+", tell, "+out+"]\n")
	w.postHeldMessage("hello")
	w.sendDue()
	w.NoError(os.Mkdir(filepath.Dir(out), 0o700))
	w.Clock.Advance(15 * time.Second)
	w.sendDue()
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
	_, err := commandWay{[]string{os.Args[0], "tell", dir}, nil}.send(t.Context(), notification{})
	if err == nil || !strings.Contains(err.Error(), "exit status 3: cannot") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("it fails with %v", err)
	}
}

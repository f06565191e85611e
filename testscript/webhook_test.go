package script

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWebhook sends messages to agents behind URLs: one answers at once, and one answers later with the token of its run. The hub
// must refuse an agent at an address that is not allowed.
func TestWebhook(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(receive))
	defer receiver.Close()
	refused := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	defer refused.Close()

	env := append(os.Environ(), "PARLEY_HOME="+filepath.Join(t.TempDir(), "hub"), "PARLEY_ADDR=127.0.0.1:0", "PARLEY_STORE=",
		"PARLEY_WEBHOOK_ALLOW="+strings.TrimPrefix(receiver.URL, "http://"))
	parley := func(args ...string) (string, error) {
		command := exec.Command("parley", args...)
		command.Env = env
		out, err := command.CombinedOutput()
		return string(out), err
	}
	expect := func(text string, args ...string) {
		t.Helper()
		if out, err := parley(args...); err != nil || !strings.Contains(out, text) {
			t.Fatalf("parley %s: %v, and it shows\n%s", strings.Join(args, " "), err, out)
		}
	}
	expect("The hub is running", "up", "--detach")
	t.Cleanup(func() { _, _ = parley("down") })

	expect("added", "agent", "add", "now", "--url", receiver.URL+"/now")
	expect("added", "agent", "add", "later", "--url", receiver.URL+"/later")
	expect("at once: hello", "send", "now", "hello", "--wait")
	expect("in a moment: hello", "send", "later", "hello", "--wait")
	expect("later", "watch", "--kinds", "run.succeeded", "--after", "1", "--limit", "2")
	if out, err := parley("agent", "add", "inside", "--url", refused.URL); err == nil || !strings.Contains(out, "E001") {
		t.Errorf("an agent at %s is added: %v, %s", refused.URL, err, out)
	}
}

// receive is the webhook of both agents. It answers at once, or later by the HTTP API of the hub.
func receive(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Triggers []struct {
			ID      string
			Content struct{ Text string }
		}
		Reply struct{ URL, Token string }
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || len(call.Triggers) != 1 {
		http.Error(w, fmt.Sprint("not a call: ", err), http.StatusBadRequest)
		return
	}
	text := call.Triggers[0].Content.Text
	if r.URL.Path == "/now" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "at once: "+text)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	go func() {
		body := fmt.Sprintf(`{"in_reply_to": %q, "content": {"text": %q}}`, call.Triggers[0].ID, "in a moment: "+text)
		request, _ := http.NewRequest(http.MethodPost, call.Reply.URL, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+call.Reply.Token)
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
}

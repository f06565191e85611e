package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// restarting is a hub that goes away when somebody waits, and is back after so many calls.
func restarting(t *testing.T, back int) {
	t.Helper()
	answers := http.NewServeMux()
	answers.HandleFunc("GET /v1/whoami", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"agent":{"id":"user"}}`) })
	answers.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"message":{"id":"m1"},"deliveries":[{"message":"m1","recipient":"arya","state":"accepted","waking":true}]}`)
	})
	answers.HandleFunc("GET /v1/messages/m2", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"id":"m2","from":"arya","content":{"text":"here I am"}}`)
	})
	for path, answer := range map[string]string{
		"GET /v1/messages/m1": `{"id":"m1","deliveries":[{"recipient":"arya","state":"answered","waking":true,"answer":"m2","answered_at":"2030-01-02T03:04:05Z"}]}`,
		"POST /v1/inbox/take": `{"deliveries":[{"message":"m2"}],"messages":[{"id":"m2","content":{"text":"here I am"}}]}`,
	} {
		calls := 0
		answers.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if calls++; calls <= back {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = fmt.Fprint(w, `{"code":"E002","detail":"the hub is stopping"}`)
				return
			}
			_, _ = fmt.Fprint(w, answer)
		})
	}
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	t.Setenv("PARLEY_URL", server.URL)
	t.Setenv("PARLEY_TOKEN", "parley_x")
}

func TestAWaitOutlivesAHub(t *testing.T) {
	for _, test := range []struct {
		name, args     string
		back, code     int
		stdout, stderr string
	}{
		{"an answer", "send arya hello? --wait --timeout 1m", 2, exitDone, "here I am", "note: the hub is stopping; trying again"},
		{"something in the inbox", "inbox --wait=1m", 2, exitDone, "here I am", "note: the hub is stopping; trying again"},
		{
			"a hub that stays away", "send arya hello? --wait --timeout 10ms", 1 << 20, exitTimedOut, "",
			"parley: E004: the hub went away; the message is accepted (see it later: parley trace m1)",
		},
		{
			"an inbox that stays away", "inbox --wait=10ms", 1 << 20, exitTimedOut, "",
			"parley: E004: the hub went away, and nothing came within 10ms",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			restarting(t, test.back)
			var stdout, stderr strings.Builder
			code := Run(strings.Fields(test.args), strings.NewReader(""), &stdout, &stderr)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			check(t, "stdout", stdout.String(), test.stdout)
			check(t, "stderr", stderr.String(), test.stderr)
			if told := strings.Count(stderr.String(), "trying again"); told > 1 {
				t.Errorf("it says %d times that it tries again", told)
			}
		})
	}
}

package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// serveRestartingHub serves a hub that refuses the first calls that wait, as a hub that restarts does, and answers after them.
func serveRestartingHub(t *testing.T, refused int) {
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
			if calls++; calls <= refused {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = fmt.Fprint(w, `{"code":"E002","detail":"the hub is stopping"}`)
				return
			}
			_, _ = fmt.Fprint(w, answer)
		})
	}
	serveHub(t, answers)
}

func TestAWaitOutlivesAHub(t *testing.T) {
	for _, test := range []struct {
		name, args     string
		back, code     int
		stdout, stderr string
	}{
		{"an answer", "send arya hello? --wait --timeout 1m", 2, exitDone, "here I am", "note: the hub is stopping; retrying"},
		{"something in the inbox", "inbox --wait=1m", 2, exitDone, "here I am", "note: the hub is stopping; retrying"},
		{
			"a hub that stays away", "send arya hello? --wait --timeout 10ms", 1 << 20, exitTimedOut, "",
			"parley: E004: the connection to the hub was lost; the message is accepted (wait for the answer: parley wait m1)",
		},
		{
			"an inbox that stays away", "inbox --wait=10ms", 1 << 20, exitTimedOut, "",
			"parley: E004: the connection to the hub was lost, and no message came within 10ms",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			serveRestartingHub(t, test.back)
			var stdout, stderr strings.Builder
			code := Run(strings.Fields(test.args), strings.NewReader(""), &stdout, &stderr)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			check(t, "stdout", stdout.String(), test.stdout)
			check(t, "stderr", stderr.String(), test.stderr)
			if told := strings.Count(stderr.String(), "retrying"); told > 1 {
				t.Errorf("it says %d times that it tries again", told)
			}
		})
	}
}

// serveDeliveryState serves a hub with a message to arya whose delivery has this state. presence is the presence of arya.
func serveDeliveryState(t *testing.T, delivery, presence string) {
	t.Helper()
	newFakeHub(t, map[string]string{
		"POST /v1/messages":   `{"message":{"id":"m1"},"deliveries":[{"message":"m1","recipient":"arya","state":"accepted","waking":true}]}`,
		"GET /v1/messages/m1": `{"id":"m1","deliveries":[` + delivery + `]}`,
		"GET /v1/messages/m2": `{"id":"m2","from":"arya","content":{"text":"here I am"}}`,
		"GET /v1/runs/over":   `{"id":"over","state":"succeeded"}`,
		"GET /v1/who":         `{"items":[` + presence + `]}`,
	})
}

func TestAWaitSaysWhyThereIsNoAnswer(t *testing.T) {
	const idle = `{"id":"arya","kind":"agent","status":"idle"}`
	failure := `"attempt":2,"failure":{"code":"E002","message":"it did not start","suggestion":"install it"}`
	for name, test := range map[string]struct {
		delivery, presence string
		code               int
		says               []string
	}{
		"a run that ended without one": {
			`{"message":"m1","recipient":"arya","state":"acked","waking":true,"run":"over"}`, idle, exitError,
			[]string{"arya read the message and sent no answer (see what the run did: parley agent run over)"},
		},
		"a failure": {
			`{"message":"m1","recipient":"arya","state":"failed","waking":true,"run":"over",` + failure + `}`, idle, exitError,
			[]string{"no answer: it did not start (install it; see what happened: parley agent run over)"},
		},
		"a dead letter of no run": {
			`{"message":"m1","recipient":"arya","state":"dead","waking":true,` + failure + `}`, idle, exitError,
			[]string{"no answer: it did not start (install it; see what happened: parley trace m1)"},
		},
		"tries": {
			`{"message":"m1","recipient":"arya","state":"accepted","waking":true,` + failure + `}`, idle, exitTimedOut,
			[]string{"note: attempt 2 failed; the hub retries: E002: it did not start (install it)\n", "did not answer within 20ms"},
		},
		"an answer after a try that failed": {
			`{"recipient":"arya","state":"answered","waking":true,"answer":"m2","answered_at":"2030-01-02T03:04:05Z",` + failure + `}`,
			`{"id":"arya","kind":"agent","status":"offline","reason":"away"}`, exitDone,
			[]string{"note: arya is away; the message stays pending (the agent polls its inbox itself when it is back)\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			serveDeliveryState(t, test.delivery, test.presence)
			var stdout, stderr strings.Builder
			code := Run(strings.Fields("send arya hello? --wait --timeout 20ms"), strings.NewReader(""), &stdout, &stderr)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.says {
				if strings.Count(stderr.String(), want) != 1 {
					t.Errorf("it says %q, want %q once", stderr.String(), want)
				}
			}
		})
	}
}

func TestUnavailableAgentsAreNamedWithARemedy(t *testing.T) {
	until := time.Now().Add(time.Hour)
	agent := func(status, reason, note string) parley.Presence {
		return parley.Presence{ID: "arya", Kind: parley.KindAgent, Status: status, Reason: reason, Note: note}
	}
	asleep := agent("sleeping", "", "")
	asleep.SleepingUntil = &until
	person := agent("offline", "stopped", "")
	person.Kind = parley.KindHuman
	for want, p := range map[string]parley.Presence{
		"arya is stopped: a new one; the message stays pending (start it: parley agent start arya)":                                    agent("offline", "stopped", "a new one"),
		"arya is paused; the message stays pending (resume it: parley agent resume arya)":                                              agent("working", "paused", ""),
		"arya is over budget: 2 of 2; the message stays pending (raise its budget: parley agent set arya --help)":                      agent("idle", "over budget", "2 of 2"),
		"arya is sleeping until " + until.UTC().Format(time.RFC3339) + "; the message stays pending (wake it: parley agent wake arya)": asleep,
		"": agent("working", "", ""),
	} {
		if got := (&app{}).unavailableText(p); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if got := (&app{}).unavailableText(person); got != "" {
		t.Errorf("of a person it says %q", got)
	}
}

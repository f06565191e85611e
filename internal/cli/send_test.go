package cli

import (
	"strings"
	"testing"
)

// TestSendReportsImmediateFailures: a script sees by the exit code that a message did not reach anybody, and a person why.
func TestSendReportsImmediateFailures(t *testing.T) {
	const receipt = `{"message":{"id":"0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b","conversation":"c"},"deliveries":[
		{"message":"0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b","recipient":"codex","state":"failed",
		 "failure":{"code":"E002","message":"the inbox of codex is full","suggestion":"wait until it has caught up"}},
		{"message":"0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b","recipient":"arya","state":"accepted"}]}`
	for _, args := range [][]string{
		{"send", "codex", "hello you"},
		{"chat", "codex", "hello you"},
		{"send", "codex", "hello you", "-o", "json"},
		{"send-message", "--agent", "user", "--channel", "paper", "--to", "codex", "--text", "hello"},
	} {
		newFakeHub(t, map[string]string{
			"POST /v1/messages": receipt, "GET /v1/who": `{"items":[]}`, "GET /v1/whoami": `{"agent":{"id":"user"}}`,
		})
		var out, errs strings.Builder
		code := Run(args, strings.NewReader(""), &out, &errs)
		const why = "parley: the message did not reach codex: E002: the inbox of codex is full (wait until it has caught up)\n"
		if code != exitError || errs.String() != why || !strings.Contains(out.String(), "accepted") {
			t.Errorf("%s: exit code %d, it says %q and prints %q", args, code, errs.String(), out.String())
		}
	}
}

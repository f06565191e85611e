package dialect

import (
	"strings"
	"testing"
)

// TestPeekReadsTheSenderOfABrokenDocument: its sender is to be told what is wrong with it.
func TestPeekReadsTheSenderOfABrokenDocument(t *testing.T) {
	for what, c := range map[string]struct {
		dialect  Dialect
		text     string
		id, from string
	}{
		"a field is missing":          {AgentOS, `{"id":"msg-1","from":"codex","type":"chat"}`, "msg-1", "codex"},
		"an old name":                 {AgentOS, `{"id":"msg-1","from":"codex-1"}`, "msg-1", "codex"},
		"half of it":                  {AgentOS, `{"id":"msg-1","from":"codex","content":{"text":"hel`, "msg-1", "codex"},
		"a byte order mark":           {AgentOS, "\ufeff" + `{"id":"msg-1","from":"codex"`, "msg-1", "codex"},
		"the sender as an object":     {ClawOS, `{"id":"r-1","from":{"agent":"pm-1","tier":"pm"},"payload":[]}`, "r-1", "pm-1"},
		"the sender as a word":        {ClawOS, `{"id":"r-1","from":"pm-1"}`, "r-1", "pm-1"},
		"an id of another form":       {Routing, `{"msg_id":"msg_invalid","from":"coder-1"}`, "msg_invalid", "coder-1"},
		"two senders":                 {Routing, `{"msg_id":"msg_00000001","from":"coder-1","from":"ana"}`, "msg_00000001", ""},
		"a sender inside of the text": {Routing, `{"payload":{"from":"ana"},"msg_id":"msg_00000001"}`, "msg_00000001", ""},
		"no object":                   {Routing, `["from","ana"]`, "", ""},
		"nothing":                     {Routing, ``, "", ""},
		"too deep":                    {Routing, `{"from":"ana","x":` + strings.Repeat("[", 20000), "", "ana"},
	} {
		t.Run(what, func(t *testing.T) {
			got := Peek(c.dialect, []byte(c.text))
			if got.Name != c.id || got.From != c.from {
				t.Errorf("%q from %q, want %q from %q", got.Name, got.From, c.id, c.from)
			}
		})
	}
}

// TestPeekReadsTheTypeOfABrokenDocument: an error must not cause another.
func TestPeekReadsTheTypeOfABrokenDocument(t *testing.T) {
	for text, d := range map[string]Dialect{
		`{"type":"incident","metadata":{"in_reply_to":"m-1"}}`:                     AgentOS,
		`{"type":"error","payload":{"requestId":"m-1"}}`:                           ClawOS,
		`{"type":"result","correlation_id":"m-1","payload":{"status":"failure"}}`:  Routing,
		`{"type":"response","payload":{"requestId":"m-1","status":"failure"},"x":`: ClawOS,
	} {
		got := Peek(d, []byte(text))
		if got.ReplyTo != "m-1" || !strings.Contains(text, `"`+string(got.Draft.Type)+`"`) {
			t.Errorf("%s: a %q that answers %q", text, got.Draft.Type, got.ReplyTo)
		}
		if strings.Contains(text, "failure") && !strings.Contains(string(got.Draft.Payload), "failure") {
			t.Errorf("%s: its payload is %s", text, got.Draft.Payload)
		}
	}
}

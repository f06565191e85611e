package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/httpapi"
)

// in is short for variables of a path.
func in(pairs ...string) map[string]string {
	vars := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		vars[pairs[i]] = pairs[i+1]
	}
	return vars
}

var stories = map[string][]step{
	"agents": {
		{op: "whoami", as: "arya"},
		{op: "whoami", as: "user", header: in("Parley-As", "arya")},
		{op: "who", as: "arya"},
		{op: "read-names", as: "arya", query: "ids=arya,rickon,nobody"},
		{op: "list-agents", as: "arya"},
		{op: "list-protocols", as: "arya"},
		{op: "add-agent", as: "user", body: `{"id":"sansa","name":"Sansa","role":"reviewer","skills":["letters"],"runtime_config":{"model":"x"}}`},
		{op: "add-agent", as: "user", body: `{"id":"Sansa Stark"}`},
		{op: "add-agent", as: "user", body: `{"id":"sansa"}`},
		{op: "add-agent", as: "arya", body: `{"id":"bran"}`},
		{op: "show-agent", as: "arya", vars: in("agent", "sansa")},
		{op: "show-agent", as: "user", vars: in("agent", "sansa")},
		{op: "show-agent", as: "arya", vars: in("agent", "sanza")},
		{op: "change-agent", as: "user", vars: in("agent", "sansa"), body: `{"name":"Alayne","role":null,"attempts":3,"budget":{"runs_per_hour":7}}`},
		{op: "change-agent", as: "user", vars: in("agent", "sansa"), body: `{"attempts":null,"skills":null}`},
		{op: "change-agent", as: "user", vars: in("agent", "sansa"), body: `{"attempts":0}`},
		{op: "change-agent", as: "user", vars: in("agent", "sansa"), body: `{"id":"other"}`},
		{op: "sleep", as: "arya", vars: in("agent", "arya"), body: `{"for":3600}`},
		{op: "sleep", as: "rickon", vars: in("agent", "arya"), body: `{"until":"2001-01-01T00:00:00Z"}`},
		{op: "sleep", as: "hound", vars: in("agent", "arya"), body: `{"for":3600}`},
		{op: "sleep", as: "arya", vars: in("agent", "arya"), body: `{}`},
		{op: "wake", as: "rickon", vars: in("agent", "arya")},
		{op: "remove-agent", as: "user", vars: in("agent", "sansa")},
		{op: "remove-agent", as: "user", vars: in("agent", "user")},
	},
	"conversations": {
		{op: "make-conversation", as: "arya", body: `{"name":"keep","with":["gendry"],"private":true,"topic":"swords"}`, keep: in("keep", "id")},
		{op: "make-conversation", as: "arya", body: `{"name":"keep"}`},
		{op: "list-conversations", as: "arya", query: "limit=2", keep: in("next", "next")},
		{op: "list-conversations", as: "arya", query: "limit=2&cursor={next}"},
		{op: "list-conversations", as: "hound", query: "all"},
		{op: "list-conversations", as: "hound", query: "cursor=x"},
		{op: "list-conversations", as: "hound", query: "limt=2"},
		{op: "list-conversations", as: "hound", query: "limit=two"},
		{op: "show-conversation", as: "gendry", vars: in("conversation", "%23keep")},
		{op: "show-conversation", as: "hound", vars: in("conversation", "keep")},
		{op: "change-conversation", as: "arya", vars: in("conversation", "keep"), body: `{"name":"castle","topic":"stones","archived":true}`},
		{op: "change-conversation", as: "gendry", vars: in("conversation", "castle"), body: `{"name":"mine"}`},
		{op: "add-member", as: "arya", vars: in("conversation", "castle", "agent", "hound")},
		{op: "remove-member", as: "arya", vars: in("conversation", "castle", "agent", "hound")},
		{op: "remove-member", as: "arya", vars: in("conversation", "castle", "agent", "hound")},
		{op: "join", as: "hound", vars: in("conversation", "square")},
		{op: "leave", as: "hound", vars: in("conversation", "square")},
		{op: "leave", as: "hound", vars: in("conversation", "square")},
		{op: "post-message", as: "gendry", body: `{"conversation":"castle","content":{"text":"first <b>&</b> @Arya"}}`},
		{op: "list-messages", as: "arya", vars: in("conversation", "castle"), query: "limit=5"},
		{op: "list-messages", as: "arya", vars: in("conversation", "castle"), query: "after=1000000"},
		{op: "read-context", as: "arya", vars: in("conversation", "castle")},
		{op: "mark-read", as: "arya", vars: in("conversation", "castle"), body: `{}`},
		{op: "export-conversation", as: "arya", vars: in("conversation", "castle")},
		{op: "export-conversation", as: "arya", vars: in("conversation", "castle"), query: "format=markdown"},
		{op: "export-conversation", as: "arya", vars: in("conversation", "castle"), query: "format=pdf"},
		{op: "delete-conversation", as: "arya", vars: in("conversation", "castle")},
		{op: "delete-conversation", as: "user", vars: in("conversation", "castle")},
	},
	"notes": {
		{op: "remember", as: "arya", body: `{"scope":"private","text":"The deploy key is in the vault."}`, keep: in("n", "id")},
		{op: "remember", as: "arya", body: `{"scope":"private","text":"The deploy key is in the vault."}`},
		{op: "remember", as: "arya", body: `{"scope":"conversation","conversation":"forge","text":"Deploys are on Tuesdays."}`, header: in("Idempotency-Key", "k1"), keep: in("shared", "id")},
		{op: "remember", as: "arya", body: `{"scope":"conversation","conversation":"forge","text":"Deploys are on Fridays."}`, header: in("Idempotency-Key", "k1")},
		{op: "remember", as: "hound", body: `{"scope":"conversation","conversation":"forge","text":"Mine."}`},
		{op: "remember", as: "arya", body: `{"scope":"all","text":"x"}`},
		{op: "remember", as: "arya", body: `{"scope":"private","text":" "}`},
		{op: "remember", as: "arya", body: `{"text":"x","author":"gendry"}`},
		{op: "recall", as: "arya"},
		{op: "recall", as: "arya", query: "q=where+is+the+key"},
		{op: "recall", as: "gendry", query: "conversation=forge&q=deploys"},
		{op: "recall", as: "hound", query: "conversation=forge"},
		{op: "recall", as: "hound", query: "agent=arya"},
		{op: "recall", as: "user", query: "agent=arya&limit=1"},
		{op: "recall", as: "user", query: "agent=arya&conversation=forge"},
		{op: "forget", as: "hound", vars: in("note", "{shared}")},
		{op: "forget", as: "gendry", vars: in("note", "{n}")},
		{op: "forget", as: "gendry", vars: in("note", "{shared}")},
		{op: "redact-note", as: "arya", vars: in("note", "{n}"), body: `{}`},
		{op: "redact-note", as: "user", vars: in("note", "{n}"), body: `{"reason":"a password"}`},
		{op: "recall", as: "arya", query: "scope=private"},
		{op: "forget", as: "arya", vars: in("note", "{n}")},
		{op: "forget", as: "arya", vars: in("note", "{n}")},
	},
	"messages": {
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"Is it done?"},"priority":"high","requires_ack":true,"payload":{"n":1.50}}`, header: in("Idempotency-Key", "k1"), keep: in("m", "message.id", "trace", "message.trace_id")},
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"Is it done?"},"idempotency_key":"k1"}`},
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"Is it done?"},"idempotency_key":"k1"}`, header: in("Idempotency-Key", "k2")},
		{op: "post-message", as: "user", body: `{"direct":["gendry"],"content":{"text":"As arya"}}`, header: in("Parley-As", "arya", "Parley-Source", "cli")},
		{op: "post-message", as: "arya", body: `{"from":"gendry","direct":["hound"],"content":{"text":"I am gendry"}}`},
		{op: "post-message", as: "arya", body: `{"content":{"text":"to whom?"}}`},
		{op: "post-message", as: "arya", body: `{"direct":["gendri"],"content":{"text":"hello"}}`},
		{op: "post-message", as: "gendry", body: `{"in_reply_to":"{m}","content":{"text":"It is."}}`},
		{op: "show-message", as: "arya", vars: in("message", "{m}"), query: "wait=5&for=answered"},
		{op: "show-message", as: "arya", vars: in("message", "{m}"), query: "wait=51"},
		{op: "show-message", as: "arya", vars: in("message", "{m}"), query: "for=lunch"},
		{op: "show-message", as: "hound", vars: in("message", "{m}")},
		{op: "read-thread", as: "gendry", vars: in("message", "{m}")},
		{op: "read-trace", as: "gendry", vars: in("trace", "{trace}")},
		{op: "search", as: "arya", query: "q=done"},
		{op: "search", as: "hound", query: "q=done"},
		{op: "search", as: "arya", query: "q=from:nobody"},
		{op: "redact-message", as: "user", vars: in("message", "{m}"), body: `{"reason":"a secret"}`},
		{op: "redact-message", as: "arya", vars: in("message", "{m}"), body: `{}`},
	},
	"inbox": {
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"one"}}`, keep: in("one", "message.id")},
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"two"}}`, keep: in("two", "message.id")},
		{op: "post-message", as: "arya", body: `{"direct":["gendry"],"content":{"text":"three"}}`, keep: in("three", "message.id")},
		{op: "peek-inbox", as: "gendry", query: "limit=1"},
		{op: "take", as: "gendry", body: `{"limit":1,"wait":5,"lease":30}`, keep: in("lease", "lease")},
		{op: "extend", as: "gendry", body: `{"lease":"{lease}","seconds":90}`},
		{op: "see", as: "gendry", body: `{"lease":"{lease}","run":"run-1"}`},
		{op: "mark-shown", as: "gendry", body: `{"messages":["{one}"]}`},
		{op: "mark-shown", as: "gendry", body: `{"messages":[]}`},
		{op: "peek-inbox", as: "gendry", query: "newest=true&limit=1"},
		{op: "peek-inbox", as: "gendry", query: "before=7"},
		{op: "ack", as: "gendry", body: `{"lease":"{lease}","messages":["{one}"]}`},
		{op: "ack", as: "hound", body: `{"messages":["{one}"]}`},
		{op: "take", as: "gendry", body: `{"limit":1}`, keep: in("lease", "lease")},
		{op: "nack", as: "gendry", body: `{"lease":"{lease}","messages":["{two}"],"failure":"busy","reason":"too much to do"}`},
		{op: "take", as: "gendry", body: `{"limit":1}`, keep: in("lease", "lease")},
		{op: "settle", as: "gendry", body: `{"lease":"{lease}"}`},
		{op: "settle", as: "gendry", body: `{"lease":"{lease}"}`},
		{op: "take", as: "hound", body: `{}`},
		{op: "take", as: "hound", body: `{"wait":51}`},
		{op: "take", as: "hound", body: `{"lease":-1}`},
		{op: "take", as: "hound", body: `{"session":"nobodys"}`},
		{op: "ack", as: "hound", body: `{"session":"nobodys","lease":"x","messages":["m1"]}`},
		{op: "settle", as: "hound", body: `{"session":"nobodys"}`},
		{op: "open-session", as: "hound", body: `{"key":"not a key","kind":"stdio"}`},
		{op: "list-sessions", as: "hound"},
		{op: "change-agent", as: "user", vars: in("agent", "hound"), body: `{"attempts":1}`},
		{op: "post-message", as: "arya", body: `{"direct":["hound"],"content":{"text":"chicken"}}`, keep: in("dead", "message.id")},
		{op: "take", as: "hound", body: `{}`, keep: in("lease", "lease")},
		{op: "nack", as: "hound", body: `{"lease":"{lease}","messages":["{dead}"],"failure":"server"}`},
		{op: "list-dead", as: "user", query: "limit=1"},
		{op: "list-dead", as: "arya"},
		{op: "retry-dead", as: "user", vars: in("message", "{dead}", "recipient", "hound")},
		{op: "retry-dead", as: "user", vars: in("message", "{dead}", "recipient", "hound")},
		{op: "take", as: "hound", body: `{}`, keep: in("lease", "lease")},
		{op: "nack", as: "hound", body: `{"lease":"{lease}","messages":["{dead}"],"failure":"server"}`},
		{op: "drop-dead", as: "user", vars: in("message", "{dead}", "recipient", "hound")},
	},
	"runs": {
		{op: "list-runs", as: "arya", query: "live&limit=1", keep: in("run", "items.0.id")},
		{op: "list-runs", as: "user", query: "agent=arya&conversation={conversation}"},
		{op: "list-runs", as: "hound"},
		{op: "list-runs", as: "hound", query: "agent=arya"},
		{op: "list-runs", as: "user", query: "cursor=x"},
		{op: "show-run", as: "arya", vars: in("run", "{run}")},
		{op: "show-run", as: "hound", vars: in("run", "{run}")},
		{op: "show-agent", as: "user", vars: in("agent", "arya")},
		{op: "who", as: "hound"},
		{op: "read-output", as: "arya", vars: in("run", "{run}")},
		{op: "read-output", as: "rickon", vars: in("run", "{run}")},
		{op: "cancel-run", as: "rickon", vars: in("run", "{run}"), body: `{"reason":"it goes the wrong way"}`},
		{op: "cancel-run", as: "hound", vars: in("run", "{run}"), body: `{}`},
		{op: "show-run", as: "user", vars: in("run", "{run}")},
	},
	"control": {
		{op: "command", as: "rickon", vars: in("agent", "arya"), body: `{"action":"pause","parameters":{"reason":"the build is red","timeout_ms":600000}}`},
		{op: "show-agent", as: "user", vars: in("agent", "arya")},
		{op: "command", as: "user", vars: in("agent", "arya"), body: `{"action":"resume"}`},
		{op: "command", as: "hound", vars: in("agent", "arya"), body: `{"action":"stop"}`},
		{op: "command", as: "user", vars: in("agent", "arya"), body: `{"action":"dance"}`},
		{op: "command", as: "user", vars: in("agent", "rickon"), body: `{"action":"stop"}`},
		{op: "report-health", as: "arya", vars: in("agent", "arya"), body: `{"health":"degraded","metrics":{"cpu":0.93},"uptime_ms":60000}`},
		{op: "report-health", as: "arya", vars: in("agent", "arya"), body: `{"health":"splendid"}`},
		{op: "report-health", as: "user", vars: in("agent", "arya"), body: `{"health":"healthy"}`},
		{op: "report-health", as: "user", vars: in("agent", "user"), body: `{"health":"healthy"}`},
		{op: "resume-pair", as: "user", vars: in("agent", "arya"), body: `{"with":"gendry"}`},
		{op: "resume-pair", as: "hound", vars: in("agent", "arya"), body: `{"with":"gendry"}`},
		{op: "change-conversation", as: "arya", vars: in("conversation", "forge"), body: `{"answers":"round-robin"}`},
		{op: "change-conversation", as: "arya", vars: in("conversation", "forge"), body: `{"answers":"loudest"}`},
	},
	"artifacts": {
		{op: "store-artifact", as: "arya", body: "steel\x00\xff", header: in("Content-Type", "application/octet-stream"), keep: in("sha", "sha256")},
		{op: "fetch-artifact", as: "arya", vars: in("sha256", "{sha}")},
		{op: "fetch-artifact", as: "hound", vars: in("sha256", "{sha}")},
		{op: "count-artifacts", as: "user"},
		{op: "count-artifacts", as: "arya"},
	},
	"credentials": {
		{op: "make-token", as: "user", body: `{"agent":"arya","label":"laptop","scopes":["send","read"],"expires_in":3600}`, keep: in("token", "id")},
		{op: "make-token", as: "arya", body: `{"agent":"arya"}`},
		{op: "make-token", as: "user", body: `{"agent":"arya","scopes":["everything"]}`},
		{op: "list-tokens", as: "arya", query: "limit=1"},
		{op: "list-tokens", as: "arya", query: "agent=gendry"},
		{op: "revoke-token", as: "arya", vars: in("token", "{token}")},
		{op: "revoke-token", as: "hound", vars: in("token", "{token}")},
		{op: "make-link", as: "user", body: `{"agent":"rickon"}`},
		{op: "make-link", as: "rickon", body: `{"agent":"user"}`},
		{op: "make-link", as: "user", body: `{"agent":"arya"}`},
		{op: "end-session", as: "user"},
	},
	"hub": {
		{op: "health"},
		{op: "ready"},
		{op: "status", as: "arya"},
		{op: "attention", as: "arya"},
		{op: "attention", as: "user", query: "limit=5"},
		{op: "status"},
		{op: "list-audit", as: "user", query: "limit=2", keep: in("next", "next")},
		{op: "list-audit", as: "user", query: "limit=1&cursor={next}"},
		{op: "list-audit", as: "arya"},
		{op: "verify-audit", as: "user"},
		{op: "read-log", as: "user", query: "agent=Arya&status=delivered&since=2026-02-25T18:50:00Z"},
		{op: "read-log", as: "user", query: "status=lost"},
		{op: "read-log", as: "user", query: "since=yesterday"},
		{op: "read-log", as: "arya"},
		{op: "metrics", as: "user"},
		{op: "metrics", as: "arya"},
		{op: "metrics"},
		{op: "check", as: "user"},
		{op: "check", as: "arya"},
		{op: "make-backup", as: "user", body: `{"directory":"/nowhere"}`},
		{op: "post-message", as: "arya", body: `{"conversation":"square","content":{"text":"to be exported"}}`},
		{op: "export-hub", as: "user"},
		{op: "export-hub", as: "arya"},
		{op: "import-hub", as: "user", body: `{"parley":"export","version":1}` + "\n"},
		{op: "import-hub", as: "user", body: "nonsense\n"},
	},
}

// TestTranscripts shows what is sent and answered, for every operation.
func TestTranscripts(t *testing.T) {
	used, all := map[string]bool{}, maps.Clone(stories)
	maps.Copy(all, contactStories)
	maps.Copy(all, bridgeStories)
	for name, steps := range all {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			if name == "runs" {
				s.begin()
			}
			var b strings.Builder
			hide := newHider(s.servedHub)
			for _, st := range steps {
				req, got := s.take(st)
				record(&b, hide, st, req, got)
			}
			for op := range s.used {
				used[op] = true
			}
			kept(t, filepath.Join("testdata", name+".golden"), b.String())
		})
	}
	elsewhere := []string{ // shown by tests of their own
		"make-backup", "end-session", "follow-events", "openapi", "docs-page", "front-page", "sign-in-page", "sign-in", "sign-out",
		"approve-page", "approve", "open-session", "call-mcp", "follow-mcp", "end-mcp",
	}
	for _, op := range httpapi.Routes() {
		if !used[op.ID] && !strings.Contains(strings.Join(elsewhere, " "), op.ID) {
			t.Errorf("no transcript shows %s succeed", op.ID)
		}
	}
}

func record(b *strings.Builder, hide *hider, st step, req request, got reply) {
	who := st.as
	if who == "" {
		who = "nobody"
	}
	fmt.Fprintf(b, "## %s, as %s\n%s %s\n", st.op, who, req.method, hide.text(req.path))
	for _, name := range []string{"Idempotency-Key", "Parley-As", "Parley-Source", "Content-Type"} {
		if value := req.header[name]; value != "" {
			fmt.Fprintf(b, "%s: %s\n", name, value)
		}
	}
	if req.body != "" {
		fmt.Fprintf(b, "%s\n", hide.text(fmt.Sprintf("%q", req.body)))
	}
	fmt.Fprintf(b, "=> %d %s\n", got.status, http.StatusText(got.status))
	for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Length", "Retry-After", "WWW-Authenticate", "Allow"} {
		if value := got.header.Get(name); value != "" && (name != "Content-Length" || got.header.Get("Content-Disposition") != "") {
			fmt.Fprintf(b, "%s: %s\n", name, hide.text(value))
		}
	}
	fmt.Fprintf(b, "%s\n\n", hide.text(pretty(got)))
}

// pretty indents JSON, so that a difference can be read.
func pretty(got reply) string {
	if !strings.HasSuffix(strings.Split(got.header.Get("Content-Type"), ";")[0], "json") {
		if strings.Contains(got.body, "\x00") {
			return fmt.Sprintf("%q", got.body)
		}
		return strings.TrimSpace(got.body)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(got.body), "", "  "); err != nil {
		return "not JSON: " + got.body
	}
	return strings.TrimSpace(b.String())
}

// hider puts names in the place of what is different each time, the same for the same.
type hider struct {
	names map[string]string
	count map[string]int
	fixed *strings.Replacer
}

func newHider(w *servedHub) *hider {
	return &hider{names: map[string]string{}, count: map[string]int{}, fixed: strings.NewReplacer(w.Place, "<home>", w.server.URL, "<hub>")}
}

var hidden = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"cursor", regexp.MustCompile(`"next": ?"[^"]+"|cursor=[\w-]{2,}`)},
	{"file", regexp.MustCompile(`"name": "msg-[^"]+"`)},
	{"secret", regexp.MustCompile(`parley_[\w-]{43}`)},
	{"id", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)},
	{"digest", regexp.MustCompile(`\b[0-9a-f]{64}\b`)},
	{"time", regexp.MustCompile(`20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)},
}

// numbers depend on what goes on in the background, or on the machine.
var numbers = regexp.MustCompile(`"(pid|disk_free|disk_total|seq|last_seq|read_seq|last_event|num|entries|audited|elapsed|since|up_to)": ?[\d.e-]+`)

// steps are lines that say how far something is, one after the other.
var steps = regexp.MustCompile(`(?m)(^\{"progress":.*\n)(?:\{"progress":.*\n)+`)

func (h *hider) text(s string) string {
	s = numbers.ReplaceAllString(h.fixed.Replace(s), `"$1": <n>`)
	s = steps.ReplaceAllString(s, "$1") // how many there are is for the time it takes
	for _, p := range hidden {
		s = p.pattern.ReplaceAllStringFunc(s, func(found string) string { return h.name(p.kind, found) })
	}
	return s
}

func (h *hider) name(kind, found string) string {
	if kind == "time" || kind == "cursor" {
		return "<" + kind + ">"
	}
	if h.names[found] == "" {
		h.count[kind]++
		h.names[found] = fmt.Sprintf("<%s %d>", kind, h.count[kind])
	}
	return h.names[found]
}

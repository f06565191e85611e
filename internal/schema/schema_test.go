package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-hub/parley"
)

// document is a valid one, changed by a JSON merge patch.
func document(t *testing.T, base, patch string) []byte {
	t.Helper()
	var into, change map[string]any
	if err := json.Unmarshal([]byte(base), &into); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(patch), &change); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(merge(into, change))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func merge(into, change map[string]any) map[string]any {
	for key, value := range change {
		inner, isObject := value.(map[string]any)
		was, wasObject := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && wasObject:
			into[key] = merge(was, inner)
		default:
			into[key] = value
		}
	}
	return into
}

var valid = map[string]string{
	"agentos": `{"id":"msg-1","timestamp":"2026-01-11T16:33:15.123Z","session_id":"paper","from":"claude","to":"all","type":"chat","content":{"text":"hi"}}`,
	"clawos":  `{"version":"1.0","id":"m","traceId":"t","from":{"agent":"gm"},"to":{"agent":"pm"},"type":"request","timestamp":"2026-02-25T18:50:00+08:00","payload":{"action":"task.assign"}}`,
	"routing": `{"version":"1.0.0","msg_id":"msg_a3f5d8b2","from":"a","to":"b","timestamp":"2025-10-06T14:32:15.234Z","sequence":1,"type":"result","payload":{"status":"success"}}`,
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		dialect, patch string
		want           []string
	}{
		{"agentos", `{}`, nil},
		{"agentos", `{"timestamp":"2026-01-11T16:33:15.123456","extra":{"a":[1]},"metadata":{"more":1}}`, nil},
		{"agentos", `{"type":"ha_report","content":{"code":"x","artifacts":["a",{"path":"b"}]}}`, nil},
		{"agentos", `{"timestamp":"yesterday","content":{"text":7},"from":""}`, []string{
			"content.text: expected string, got number", "from: is empty", "timestamp: 'yesterday' is not a valid iso-8601",
		}},
		{"agentos", `{"metadata":{"mode":"watcher"}}`, nil},
		{"agentos", `{"metadata":{"mode":null}}`, nil},
		{"agentos", `{"metadata":{"mode":"turbo"}}`, []string{"Invalid metadata.mode: expected 'chat' or 'watcher', got 'turbo'"}},
		{"agentos", `{"metadata":{"mode":7}}`, []string{"Invalid metadata.mode: expected 'chat' or 'watcher', got 7"}},
		{"agentos", `{"content":null,"id":null}`, []string{"Missing required field: content", "Missing required field: id"}},
		{"clawos", `{"ttl":3600,"priority":"critical","unknown":true}`, nil},
		{"clawos", `{"traceId":null}`, []string{"Missing required field: traceId"}},
		{"clawos", `{"from":{"agent":null,"tier":"boss"},"ttl":-1,"timestamp":"2026-02-25T18:50:00"}`, []string{
			"Missing required field: from.agent", "Invalid from.tier: expected 'command', 'pm' or 'worker', got 'boss'",
			"timestamp: '2026-02-25T18:50:00' is not a valid date-time", "ttl: minimum is 0, got -1",
		}},
		{"clawos", `{"type":"response","payload":{"action":null}}`, []string{"Missing required field: payload.status"}},
		{"clawos", `{"payload":{"deadline":"soon"}}`, []string{"payload.deadline: 'soon' is not a valid date-time"}},
		{"clawos", `{"type":"error","payload":{"code":"404","message":"x"}}`, []string{`payload.code: '404' does not match ^E\d{3}$`}},
		{"clawos", `{"type":"notification","payload":{"event":"dance"}}`, []string{
			"Invalid payload.event: expected 'progress', 'warning', 'completed' or 'failed', got 'dance'",
		}},
		{"routing", `{"priority":10,"requires_ack":true,"correlation_id":"msg_00000000","more":{}}`, nil},
		{"routing", `{"timestamp":null,"type":"status_update"}`, []string{
			"Missing required field: timestamp",
			"Invalid type: expected 'status-update', 'task-delegation', 'result', 'command' or 'heartbeat', got 'status_update'",
		}},
		{"routing", `{"priority":11,"sequence":0,"msg_id":"msg_1"}`, []string{
			"msg_id: 'msg_1' does not match ^msg_[a-f0-9]{8}$", "priority: maximum is 10, got 11", "sequence: minimum is 1, got 0",
		}},
		{"routing", `{"sequence":1.5,"from":"A b"}`, []string{
			"from: 'A b' does not match ^[a-z0-9_-]+$", "sequence: expected integer, got number",
		}},
		{"routing", `{"type":"status-update","payload":{"status":"blocked","progress":1.5,"blockers":["x",1]}}`, []string{
			"payload.blockers.1: expected string, got number", "payload.progress: maximum is 1, got 1.5",
		}},
		{"routing", `{"payload":[]}`, []string{"payload: expected object, got array"}},
	} {
		got := CheckDocument(c.dialect, document(t, valid[c.dialect], c.patch))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s with %s:\n got %q\nwant %q", c.dialect, c.patch, got, c.want)
		}
	}
}

func TestPayloads(t *testing.T) {
	for _, c := range []struct {
		kind parley.Type
		raw  string
		want int
	}{
		{"status-update", `{"status":"in_progress","progress":0.65,"blockers":[]}`, 0},
		{"status-update", `{"progress":2}`, 2},
		{"status-update", ``, 0},
		{"task-delegation", `{"task":"x","context":{"deadline":"2025-10-06T16:00:00.000Z"}}`, 0},
		{"task-delegation", `{"context":{"deadline":"soon","files":"a"}}`, 3},
		{parley.TypeResult, `{"status":"done"}`, 1},
		{parley.TypeResult, `{"anything":1}`, 0},
		{parley.TypeCommand, `{"action":"dance"}`, 1},
		{parley.TypeHeartbeat, `{"note":"here"}`, 0},
		{parley.TypeHeartbeat, `{"health":"fine","metrics":{"cpu_usage":7}}`, 2},
		{parley.TypeRequest, `{"approval":"x"}`, 0},
		{parley.TypeRequest, `{"action":""}`, 1},
		{parley.TypeResponse, `{"requestId":"x"}`, 1},
		{parley.TypeResponse, `{"answer":42}`, 0},
		{parley.TypeNotification, `{"event":"progress","progress":{"percent":101}}`, 1},
		{parley.TypeNotification, `{"budget":1}`, 0},
		{parley.TypeError, `{"code":"E002"}`, 1},
		{parley.TypeError, `{"error":{"code":"E002"}}`, 0},
		{parley.TypeChat, `{"status":7}`, 0},
		{"qc_review", `{"status":7}`, 0},
	} {
		if got := CheckPayload(c.kind, []byte(c.raw)); len(got) != c.want {
			t.Errorf("%s %s: %q", c.kind, c.raw, got)
		}
	}
}

// The validator counts exactly: these numbers would keep it busy, or end the process.
func TestNumbersBeyondReason(t *testing.T) {
	for _, number := range []string{"1e999999", "1e-999999", "1e99999999999", "1e-99999999999", "-1e400"} {
		began := time.Now()
		_ = CheckPayload("status-update", []byte(`{"status":"blocked","progress":`+number+`}`))
		_ = CheckDocument("routing", []byte(`{"sequence":`+number+`,"priority":`+number+`}`))
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s took %s", number, took)
		}
	}
}

func TestManyIssuesAreCounted(t *testing.T) {
	list := strings.Repeat("1,", 999) + "1"
	got := CheckPayload("status-update", []byte(`{"status":"blocked","blockers":[`+list+`]}`))
	if len(got) != maxIssues+1 || got[maxIssues] != "and 936 more" {
		t.Errorf("%d issues, the last %q", len(got), got[len(got)-1])
	}
	got = CheckDocument("routing", []byte(`{"version":"1.0.0","msg_id":"msg_00000001","from":"a","to":"b","timestamp":"2026-01-01T00:00:00Z","sequence":1,`+
		`"type":"status-update","payload":{"status":"blocked","blockers":[`+list+`]}}`))
	if len(got) != 1000 {
		t.Errorf("a document whose format has every issue listed: %d issues", len(got))
	}
	got = CheckPayload(parley.TypeResult, []byte(`{"status":"`+strings.Repeat("é", 500)+`\u001b["}`))
	if len(got) != 1 || !strings.HasSuffix(got[0], "got '"+strings.Repeat("é", 80)+"…'") {
		t.Errorf("a long value: %q", got)
	}
}

// What a schema refers to comes from nowhere but here.
func TestReferencesToFilesAreRefused(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"file://" + secret, "http://127.0.0.1:1/x.json"} {
		c := jsonschema.NewCompiler()
		c.UseLoader(noLoader{})
		if err := c.AddResource(address("x.json"), map[string]any{"$ref": target}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile(address("x.json")); err == nil {
			t.Errorf("%s was loaded", target)
		}
	}
}

func TestMomentsKeepTheirOffset(t *testing.T) {
	for text, want := range map[string]string{
		"2026-02-25T18:50:00+08:00":  "2026-02-25T18:50:00+08:00",
		"2026-02-25t18:50:00z":       "2026-02-25T18:50:00Z",
		"2026-02-25T18:50:00.123456": "2026-02-25T18:50:00.123456Z",
		"2026-02-25":                 "",
		"2026-13-25T18:50:00Z":       "",
	} {
		at, err := ParseTime(text)
		if got := at.Format(time.RFC3339Nano); (err != nil) != (want == "") || want != "" && got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	raw := []byte(valid["routing"])
	for b.Loop() {
		if issues := CheckDocument("routing", raw); issues != nil {
			b.Fatal(fmt.Sprint(issues))
		}
	}
}

package dialect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// document is what a departure looks like in a dialect, as far as type and payload go.
func document(t *testing.T, d Dialect, out parley.Departure) (word string, payload object) {
	t.Helper()
	out.Name = map[Dialect]string{AgentOS: "msg-1", ClawOS: "m-1", Routing: "msg_00000001"}[d]
	out.Recipient, out.Channel = "codex", "paper"
	m := &out.Message
	m.From, m.To, m.TraceID, m.CreatedAt, m.Priority = "claude", "codex", "t-1", began, parley.DefaultPriority
	if m.Content.Text == "" {
		m.Content.Text = "do it"
	}
	raw, err := Encode(d, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(d, raw); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	doc := parseObject(raw)
	return doc.text("type"), doc.object("payload")
}

// The table of types, as the contract has it.
func TestTypes(t *testing.T) {
	done := &parley.Task{Status: parley.TaskCompleted}
	failed := &parley.Task{Status: parley.TaskFailed}
	for _, c := range []struct {
		what       string
		out        parley.Departure
		s0, s1, s3 string
	}{
		{"chat that wakes", departs(parley.TypeChat, wakes), "chat", "request task.assign do it", "task-delegation do it"},
		{"request", departs(parley.TypeRequest, wakes), "chat", "request task.assign do it", "task-delegation do it"},
		{"chat that does not", departs(parley.TypeChat), "chat", "notification progress do it", "status-update in_progress do it"},
		{"own word that wakes", departs("qc_review", wakes), "qc_review", "request task.assign do it", "task-delegation do it"},
		{"notification", departs(parley.TypeNotification), "chat", "notification progress do it", "status-update in_progress do it"},
		{"task", departs(parley.TypeTask, wakes), "task_assign", "request task.assign do it", "task-delegation do it"},
		{"response", departs(parley.TypeResponse), "chat", "response success do it", "result success do it"},
		{"response that ends a task", departs(parley.TypeResponse, ends(done)), "task_result", "response success do it", "result success do it"},
		{"result that ends a task badly", departs(parley.TypeResult, ends(failed)), "task_result", "response failure do it", "result failure do it"},
		{"final error", departs(parley.TypeError, final), "incident", "error E006 do it", "result failure do it"},
		{"error that is not final", departs(parley.TypeError), "chat", "notification warning do it", "status-update blocked do it"},
		{"status", departs(parley.TypeStatus), "chat", "notification progress do it", "status-update in_progress do it"},
		{"command", departs(parley.TypeCommand, says(`{"action":"pause"}`)), "chat", "request pause do it", "command pause do it"},
		{"S0's assignment", departs(taskAssign, wakes), "task_assign", "request task.assign do it", "task-delegation do it"},
		{"S0's incident", departs(incident, wakes), "incident", "notification warning do it", "status-update blocked do it"},
		{"S3's delegation", departs(taskDelegation, wakes), "task_assign", "request task.assign do it", "task-delegation do it"},
		{"S3's status", departs(statusUpdate, says(`{"status":"failed"}`)), "chat", "notification failed do it", "status-update failed do it"},
		{"S1's event", departs(parley.TypeNotification, says(`{"event":"completed"}`)), "chat", "notification completed do it", "status-update completed do it"},
	} {
		s0, _ := document(t, AgentOS, c.out)
		word, payload := document(t, ClawOS, c.out)
		s1 := word + " " + first(payload, "action", "event", "status", "code") + " " + clawOSText(word, payload)
		word, payload = document(t, Routing, c.out)
		s3 := strings.Join(strings.Fields(word+" "+first(payload, "action", "status")+" "+payload.text(routingTextField(word))), " ")
		if diff := cmp.Diff([]string{c.s0, c.s1, c.s3}, []string{s0, s1, s3}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.what, diff)
		}
	}
}

func first(payload object, keys ...string) string {
	for _, key := range keys {
		if payload.has(key) {
			return payload.text(key)
		}
	}
	return ""
}

func departs(kind parley.Type, options ...func(*parley.Departure)) parley.Departure {
	out := parley.Departure{Message: parley.Message{Type: kind}}
	for _, o := range options {
		o(&out)
	}
	return out
}

func wakes(out *parley.Departure) { out.Wakes = true }
func final(out *parley.Departure) { out.Final = true }

func ends(task *parley.Task) func(*parley.Departure) {
	return func(out *parley.Departure) { out.Task = task }
}

func says(payload string) func(*parley.Departure) {
	return func(out *parley.Departure) { out.Message.Payload = json.RawMessage(payload) }
}

// And back.
func TestTypesOfDocuments(t *testing.T) {
	for d, types := range map[Dialect]map[string]parley.Type{
		AgentOS: {"chat": "chat", "task_assign": "task", "task_result": "result", "incident": "incident", "qc_review": "qc_review"},
		ClawOS:  {"request": "request", "response": "response", "notification": "notification", "error": "error"},
		Routing: {
			"status-update": "status", "task-delegation": "task", "result": "result", "command": "command", "heartbeat": "heartbeat",
		},
	} {
		for word, want := range types {
			if got := grammars[d].read(object{{"type", marshal(word)}}).Type; got != want {
				t.Errorf("%s of %s is %s, want %s", word, d, got, want)
			}
		}
	}
}

func TestAHeartbeatIsADocumentOnlyInTheRoutingFormat(t *testing.T) {
	for _, d := range []Dialect{AgentOS, ClawOS} {
		if _, err := Encode(d, departs(parley.TypeHeartbeat)); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", d, err)
		}
	}
	word, payload := document(t, Routing, departs(parley.TypeHeartbeat, says(`{"health":"degraded"}`)))
	if word != "heartbeat" || payload.text("health") != "degraded" {
		t.Errorf("%s %s", word, marshal(payload))
	}
}

func TestAResultDocumentHasTheOutcomeOfItsTask(t *testing.T) {
	task := &parley.Task{Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, Result: &parley.TaskResult{
		Deliverables: []string{"/a"}, Metrics: map[string]float64{"confidence": 0.9}, Issues: []string{"one"}, NextSteps: []string{"two"},
	}}
	_, payload := document(t, Routing, departs(parley.TypeResult, ends(task)))
	want := `{"status":"partial","deliverables":{"files_modified":[],"tests_added":[],"artifacts":["/a"]},"metrics":{"confidence":0.9},` +
		`"issues":["one"],"next_steps":["two"],"message":"do it"}`
	if got := string(marshal(payload)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestARunIsAWatcher(t *testing.T) {
	out := again(arrived(t, AgentOS))
	out.Message.Metadata, out.Message.From, out.ByRun = nil, "codex", true
	doc := parseObject(written(t, AgentOS, out))
	if got := string(doc.raw("metadata")); !strings.HasPrefix(got, `{"mode":"watcher","turn":"codex"`) {
		t.Error(got)
	}
}

// arrived is a document of the seed.
func arrived(t *testing.T, d Dialect) parley.Arrival {
	t.Helper()
	name := map[Dialect]string{AgentOS: "msg-20260111-163315-claude-4c78.json", ClawOS: "response.json", Routing: "msg_1a2b3c4d.json"}[d]
	a, err := Decode(d, seeds(t, d)[name])
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func written(t *testing.T, d Dialect, out parley.Departure) []byte {
	t.Helper()
	raw, err := Encode(d, out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What goes on to somebody else is the same document but for who, when, and the place in the count.
func TestForwardingChangesOnlyIDRecipientAndSequence(t *testing.T) {
	for d, changes := range map[Dialect]map[string]any{
		AgentOS: {"id": "msg-2", "to": "gemini"},
		ClawOS:  {"id": "msg-2", "to": map[string]any{"agent": "gemini", "tier": "pm"}},
		Routing: {"msg_id": "msg_00000002", "to": "gemini", "sequence": 99.0},
	} {
		a := arrived(t, d)
		out := again(a)
		out.Name, out.Sequence, out.Recipient, out.Message.To = "msg-2", 99, "gemini", "gemini"
		if d == Routing {
			out.Name = "msg_00000002"
		}
		var want, got map[string]any
		if err := json.Unmarshal(parseObject(a.Draft.Metadata).raw(string(d)), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written(t, d, out), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range changes {
			want[key] = value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", d, diff)
		}
	}
}

// An original that somebody has put into the metadata of a message cannot speak for another.
func TestAForgedOriginalChangesNothing(t *testing.T) {
	a := arrived(t, Routing)
	out := again(a)
	out.Message.From, out.Message.Content.Text, out.Message.Type, out.Message.Payload = "mallory", "mine", parley.TypeChat, nil
	back, err := Decode(Routing, written(t, Routing, out))
	if err != nil {
		t.Fatal(err)
	}
	if back.From != "mallory" || back.Draft.Content.Text != "mine" || back.Draft.Type != parley.TypeChat || back.Draft.Payload != nil {
		t.Errorf("%+v", back)
	}
	for _, forged := range []string{`{"routing":[]}`, `{"routing":{"from":"x"}}`, `{"routing":7,"parley":{}}`} {
		out.Message.Metadata = json.RawMessage(forged)
		if back, err = Decode(Routing, written(t, Routing, out)); err != nil || back.From != "mallory" {
			t.Errorf("%s: %+v, %v", forged, back, err)
		}
	}
}

// A script that copies the metadata of what it answers does not say the same once more.
func TestCopiedMetadataIsNotHeard(t *testing.T) {
	out := again(arrived(t, AgentOS))
	out.Message.Metadata, out.Message.Type, out.Message.Payload = nil, parley.TypeRequest, json.RawMessage(`{"a":1}`)
	doc := parseObject(written(t, AgentOS, out))
	heard, err := Decode(AgentOS, marshal(doc))
	if err != nil || heard.Draft.Type != parley.TypeRequest || string(heard.Draft.Payload) != `{"a":1}` {
		t.Fatalf("%+v, %v", heard, err)
	}
	doc.set("id", "msg-20260111-163400-codex-0001")
	copied, err := Decode(AgentOS, marshal(doc))
	if err != nil || copied.Draft.Type != parley.TypeChat || copied.Draft.Payload != nil {
		t.Errorf("%+v, %v", copied, err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	const reference = ".parley/artifacts/x.json"
	for _, d := range all {
		for _, limit := range []int{1 << 10, RoutingLimit} {
			out := again(arrived(t, d))
			out.Message.Content.Text = strings.Repeat("é\"<", 8<<10)
			raw, err := EncodeWithin(d, out, limit, reference)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Decode(d, raw)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			text, metadata := a.Draft.Content.Text, parseObject(raw).object("metadata")
			if len(raw) > limit || len(raw) < limit-8 || !utf8.ValidString(text) || !strings.HasPrefix(out.Message.Content.Text, text) {
				t.Errorf("%s: %d bytes of %d, text %d", d, len(raw), limit, len(text))
			}
			if string(metadata.raw("truncated")) != "true" || metadata.text("artifact") != reference {
				t.Errorf("%s: %s", d, marshal(metadata))
			}
		}
	}
}

func TestLargePayloadsAreRefused(t *testing.T) {
	out := again(arrived(t, Routing))
	out.Message.Payload = marshal(map[string]any{"task": "x", "context": map[string]any{"files": []string{strings.Repeat("f", RoutingLimit)}}})
	_, err := EncodeWithin(Routing, out, RoutingLimit, "x")
	if e := parley.AsError(err); e == nil || e.Code != parley.BadInput || e.Reason != parley.TooLarge {
		t.Errorf("%v", err)
	}
	whole, err := EncodeWithin(Routing, again(arrived(t, Routing)), RoutingLimit, "x")
	if err != nil || parseObject(whole).object("metadata").has("truncated") {
		t.Errorf("what fits: %s, %v", whole, err)
	}
}

// S1's senders always say from and to whom, of which tier, and in which session: who reads them counts on it.
func TestClawOSNamesTierAndSessionAlways(t *testing.T) {
	out := parley.Departure{Name: "m-1", Recipient: "coder", Message: parley.Message{
		From: "ana", To: "coder", Conversation: "c-1", Type: parley.TypeChat, TraceID: "t-1", CreatedAt: time.Unix(1, 0), Content: parley.Content{Text: "hello"},
	}}
	for tier, want := range map[parley.Tier]string{"": "null", parley.TierPM: `"pm"`} {
		out.FromTier, out.ToTier = tier, tier
		raw, err := Encode(ClawOS, out)
		if err != nil {
			t.Fatal(err)
		}
		from := `"from":{"agent":"ana","tier":` + want + `,"session":"c-1"}`
		if to := `"to":{"agent":"coder","tier":` + want + `}`; !strings.Contains(string(raw), from+","+to) {
			t.Errorf("written: %s", raw)
		}
	}
}

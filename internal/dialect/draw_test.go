package dialect

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

type dict = map[string]any

// drawValue draws any JSON value.
func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"text", "number", "bool", "null"}
	if depth > 0 {
		kinds = append(kinds, "list", "object")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		return drawText(t)
	case "number":
		return rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "list":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case "object":
		return drawObject(t, depth-1)
	default:
		return nil
	}
}

func drawObject(t *rapid.T, depth int) dict {
	in := dict{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		in[rapid.StringMatching(`[a-z_]{1,6}`).Draw(t, "key")] = drawValue(t, depth)
	}
	return in
}

func drawText(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "hi", "@codex <b>&amp;", "人类可读\n的描述", "\u2028 \"quoted\" \\", "é", "all", "{}"}).Draw(t, "text")
}

func drawTime(t *rapid.T) string {
	at := time.Date(2026, 2, 25, 18, 50, rapid.IntRange(0, 59).Draw(t, "s"), rapid.SampledFrom([]int{0, 1e6, 123456000}).Draw(t, "ns"),
		time.FixedZone("", 3600*rapid.IntRange(-11, 12).Draw(t, "zone")))
	return at.Format(time.RFC3339Nano)
}

// maybe keeps some of the members, and adds some that nobody knows.
func maybe(t *rapid.T, optional dict) dict {
	out := dict{}
	for _, key := range slices.Sorted(maps.Keys(optional)) {
		if rapid.Bool().Draw(t, "has "+key) {
			out[key] = optional[key]
		}
	}
	if rapid.Bool().Draw(t, "unknown") {
		out["x-unknown"] = drawValue(t, 2)
	}
	return out
}

func with(a, b dict) dict {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func drawID(t *rapid.T, d Dialect) string {
	return rapid.SampledFrom(map[Dialect][]string{
		AgentOS: {"claude", "codex-1", "qc-1", "supervisor"},
		ClawOS:  {"gm", "WriterBot", "agent-id"},
		Routing: {"coder-1", "-odd", "_under", "system", "x_under-" + digest("_under", shortDigest), "a2345678901234567890123456789012345678901234567890123456789012345678"},
	}[d]).Draw(t, "id")
}

// drawDocument draws a valid document, with fields that nobody knows.
func drawDocument(t *rapid.T, d Dialect) []byte {
	var doc dict
	switch d {
	case AgentOS:
		doc = drawAgentOS(t)
	case ClawOS:
		doc = drawClawOS(t)
	case Routing:
		doc = drawRouting(t)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func drawAgentOS(t *rapid.T) dict {
	to := rapid.SampledFrom([]string{"all", "codex", "gemini-1"}).Draw(t, "to")
	kind := rapid.SampledFrom([]string{"chat", "task_assign", "task_result", "incident", "qc_review"}).Draw(t, "type")
	artifacts := []any{"/a", dict{"path": "b", "name": "c"}, 7, dict{"x": 1}}
	content := with(dict{"text": drawText(t)}, maybe(t, dict{"code": "x := 1", "artifacts": artifacts}))
	metadata := maybe(t, dict{"mode": "watcher", "turn": "x", "in_reply_to": "msg-1", "trace_id": "t-1", "parley": drawValue(t, 2)})
	return with(dict{
		"id": "msg-20260111-163315-claude-4c78", "timestamp": drawTime(t), "session_id": "paper", "from": drawID(t, AgentOS), "to": to,
		"type": kind, "content": content,
	}, maybe(t, dict{"metadata": metadata}))
}

func drawClawOS(t *rapid.T) dict {
	kind := rapid.SampledFrom([]string{"request", "response", "notification", "error"}).Draw(t, "type")
	said := rapid.SampledFrom([]any{drawText(t), nil, dict{"text": drawText(t)}, dict{"message": "m", "task": "k"}, []any{1}}).Draw(t, "said")
	payload := map[string]dict{
		"request":      with(dict{"action": "task.assign"}, maybe(t, dict{"params": said, "deadline": drawTime(t), "callback": "topic"})),
		"response":     with(dict{"status": "partial"}, maybe(t, dict{"requestId": "r-1", "result": said, "error": said})),
		"notification": with(dict{"event": "warning"}, maybe(t, dict{"message": drawText(t), "progress": dict{"percent": 30}})),
		"error":        with(dict{"code": "E002", "message": drawText(t)}, maybe(t, dict{"requestId": "r-1", "recoverable": true})),
	}[kind]
	tier := maybe(t, dict{"tier": "pm", "session": "s"})
	optional := dict{
		"ttl": rapid.SampledFrom([]any{0, 3600, 0.5, 1e300, nil}).Draw(t, "ttl"), "metadata": drawObject(t, 1),
		"priority": rapid.SampledFrom([]string{"low", "normal", "high", "critical"}).Draw(t, "priority"),
	}
	return with(dict{
		"version": rapid.SampledFrom([]string{"1.0", "1.0.7", "1.4"}).Draw(t, "version"), "id": "msg-uuid", "traceId": "trace 1"[:5],
		"from": with(tier, dict{"agent": drawID(t, ClawOS)}),
		"to":   dict{"agent": rapid.SampledFrom([]string{"broadcast", "gm"}).Draw(t, "to"), "tier": nil},
		"type": kind, "timestamp": drawTime(t), "payload": payload,
	}, maybe(t, optional))
}

func drawRouting(t *rapid.T) dict {
	kind := rapid.SampledFrom([]string{"status-update", "task-delegation", "result", "command", "heartbeat"}).Draw(t, "type")
	text := maybe(t, dict{"message": drawText(t)})
	payload := map[string]dict{
		"status-update":   with(text, dict{"status": "blocked", "progress": 0.5}),
		"task-delegation": with(dict{"task": drawText(t)}, maybe(t, dict{"context": maybe(t, dict{"files": []string{"/a"}, "deadline": drawTime(t)})})),
		"result": with(text, with(dict{"status": "failure", "issues": []string{"x"}}, maybe(t, dict{
			"deliverables": maybe(t, dict{"files_modified": []string{"/a"}, "tests_added": []string{"/b"}, "artifacts": []string{"/c"}, "report": drawValue(t, 2)}),
			"metrics":      maybe(t, dict{"confidence": 0.5, "duration_ms": 12345, "model": "x"}),
			"next_steps":   []string{"y"},
		}))),
		"command":   with(text, dict{"action": "pause", "parameters": dict{"timeout_ms": 5}}),
		"heartbeat": with(text, dict{"health": "degraded", "uptime_ms": 1}),
	}[kind]
	return with(dict{
		"version": rapid.SampledFrom([]string{"1.0.0", "1.9.0"}).Draw(t, "version"), "msg_id": "msg_a3f5d8b2", "from": drawID(t, Routing),
		"to": rapid.SampledFrom([]string{"all", "b", "_c"}).Draw(t, "to"), "timestamp": drawTime(t),
		"sequence": rapid.Int64Range(1, 1<<40).Draw(t, "sequence"), "type": kind, "payload": payload,
	}, maybe(t, dict{
		"requires_ack": rapid.Bool().Draw(t, "ack"), "correlation_id": "msg_00000001", "priority": rapid.IntRange(0, 10).Draw(t, "priority"),
		"metadata": maybe(t, dict{"trace_id": "t-1"}),
	}))
}

func drawMoment(t *rapid.T) *time.Time {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	at := began.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "ms")) * time.Millisecond)
	return &at
}

var began = time.Date(2026, 1, 11, 16, 33, 15, 123e6, time.UTC)

// drawDeparture draws a message that no dialect has seen before.
func drawDeparture(t *rapid.T, d Dialect) parley.Departure {
	types := []parley.Type{
		parley.TypeChat, parley.TypeRequest, parley.TypeResponse, parley.TypeNotification, parley.TypeError, parley.TypeCommand,
		parley.TypeStatus, parley.TypeTask, parley.TypeResult, taskAssign, taskResult, taskDelegation, statusUpdate, incident, "qc_review",
	}
	if d == Routing {
		types = append(types, parley.TypeHeartbeat)
	}
	out := parley.Departure{
		Name: map[Dialect]string{AgentOS: "msg-1", ClawOS: "0197", Routing: "msg_a3f5d8b2"}[d], Recipient: "codex", Sequence: 7, Channel: "paper",
		ReplyTo: rapid.SampledFrom([]string{"", "msg_00000001"}).Draw(t, "reply"), FromTier: parley.TierPM, ToTier: parley.TierWorker,
		Wakes: rapid.Bool().Draw(t, "wakes"), Final: rapid.Bool().Draw(t, "final"), ByRun: rapid.Bool().Draw(t, "run"),
		Message: parley.Message{
			From: "claude", To: rapid.SampledFrom([]string{"codex", parley.All}).Draw(t, "to"), Type: rapid.SampledFrom(types).Draw(t, "type"),
			Priority: drawPriority(t), CreatedAt: began, ExpiresAt: drawMoment(t), Deadline: drawMoment(t),
			RequiresAck: rapid.Bool().Draw(t, "ack"), TraceID: rapid.SampledFrom([]string{"t-1", "0197-x"}).Draw(t, "trace"),
			Content: parley.Content{Text: drawText(t), Code: drawText(t)}, Payload: drawPayload(t),
		},
	}
	if rapid.Bool().Draw(t, "artifacts") {
		out.Message.Content.Artifacts = []parley.Artifact{{Path: "/a"}, {Name: "b", Size: 3, SHA256: digest("b", 64)}}
	}
	if rapid.Bool().Draw(t, "metadata") {
		out.Message.Metadata = marshal(dict{"note": drawValue(t, 2)})
	}
	if rapid.Bool().Draw(t, "task") {
		out.Task = &parley.Task{
			OriginalRequester: "boss", Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, DelegationReason: "knows it", Deadline: drawMoment(t),
			Result: &parley.TaskResult{Deliverables: []string{"/x"}, Metrics: map[string]float64{"confidence": 0.5}},
		}
	}
	if d == AgentOS {
		out.Recipient, out.Message.To = "", rapid.SampledFrom([]string{"", "codex", parley.All}).Draw(t, "whom")
	}
	return out
}

func drawPriority(t *rapid.T) parley.Priority {
	p, err := parley.ParsePriority(rapid.SampledFrom([]string{"0", "3", "5", "7", "10", "low", "normal", "high", "urgent", "critical"}).Draw(t, "priority"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawPayload(t *rapid.T) json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{
		nil, []byte(`{}`), []byte(`{"any":[1,{"thing":null}]}`), []byte(`{"action":"task.assign","params":{"text":"p"},"deadline":"2026-02-25T20:00:00+08:00"}`),
		[]byte(`{"action":"pause","parameters":{"reason":"r"}}`), []byte(`{"status":"success","message":"m"}`), []byte(`{"status":"blocked"}`),
		[]byte(`{"event":"failed","message":"m"}`), []byte(`{"code":"E002","message":"m"}`), []byte(`{"task":"t","context":{"deadline":"2026-02-25T20:00:00Z"}}`),
		[]byte(`{"health":"degraded"}`), []byte(`{"error":{"code":"E004","message":"late","recoverable":true}}`), []byte(`{"status":"failure","result":"r"}`),
		[]byte(`{"status":"in_progress","progress":0.65,"current":13,"total":20}`), []byte(`{"event":"progress","progress":{"current":3,"total":10,"percent":30}}`),
		[]byte(`{"status":"success","deliverables":{"files_modified":["/a"],"report":{"rows":3}},"metrics":{"model":"x"}}`),
	}).Draw(t, "payload")
}

package dialect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// mustEncode writes a departure that has a document.
func mustEncode(t *testing.T, d Dialect, out parley.Departure) object {
	t.Helper()
	raw, err := Encode(d, out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(d, raw); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return parseObject(raw)
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %.300s, want %.300s", what, got, want)
	}
}

// plainDeparture is a message of claude's to codex.
func plainDeparture(d Dialect, m parley.Message) parley.Departure {
	m.ID, m.From, m.To, m.TraceID, m.CreatedAt, m.Priority = "m", "claude", "codex", "t-1", began, parley.DefaultPriority
	return parley.Departure{
		Name: map[Dialect]string{AgentOS: "msg-1", ClawOS: "m-1", Routing: "msg_00000001"}[d], Recipient: "codex", Channel: "paper", Sequence: 1, Wakes: true, Message: m,
	}
}

// TestTheDeadlineOfATaskTravels: the message that asks for a task leaves its deadline to the task.
func TestTheDeadlineOfATaskTravels(t *testing.T) {
	due := began.Add(90 * time.Minute)
	task := parley.Task{ID: "task-1", Message: "m", OriginalRequester: "claude", Deadline: &due}
	for d, at := range map[Dialect]func(object) string{
		ClawOS:  func(doc object) string { return doc.object("payload").text("deadline") },
		Routing: func(doc object) string { return doc.object("payload").object("context").text("deadline") },
		AgentOS: func(doc object) string { return doc.object("metadata").object(parleyKey).text("deadline") },
	} {
		out := plainDeparture(d, parley.Message{Type: parley.TypeTask, Content: parley.Content{Text: "Draft it"}, Task: "task-1"})
		out.Task = &task
		got := optionalTime(at(mustEncode(t, d, out)))
		if got == nil || !got.Equal(due) {
			t.Errorf("%s: the deadline is %v", d, got)
		}
		ends := out
		ends.Message.ID, ends.Message.Type, ends.Task = "another", parley.TypeResult, &parley.Task{Message: "m", Status: parley.TaskCompleted, Deadline: &due}
		wantText(t, string(d)+", what ends the task", at(mustEncode(t, d, ends)), "")
	}
}

// TestOffsetsTravel: a deadline is written with the offset that its sender wrote, in every format.
func TestOffsetsTravel(t *testing.T) {
	const written = "2026-02-25T20:00:00+02:00"
	due := *optionalTime(written)
	due = due.UTC()
	out := plainDeparture(Routing, parley.Message{
		Type: parley.TypeRequest, Content: parley.Content{Text: "Draft it"}, Deadline: &due,
		Payload: json.RawMessage(`{"action":"task.assign","params":{"text":"Draft it"},"deadline":"` + written + `"}`),
	})
	wantText(t, "from a request", mustEncode(t, Routing, out).object("payload").object("context").text("deadline"), written)
	out = plainDeparture(ClawOS, parley.Message{
		Type: parley.TypeTask, Content: parley.Content{Text: "Draft it"}, Deadline: &due,
		Payload: json.RawMessage(`{"task":"Draft it","context":{"deadline":"` + written + `"}}`),
	})
	wantText(t, "from a delegation", mustEncode(t, ClawOS, out).object("payload").text("deadline"), written)
	sooner := due.Add(-time.Hour)
	out.Message.Deadline = &sooner
	wantText(t, "another deadline", mustEncode(t, ClawOS, out).object("payload").text("deadline"), "2026-02-25T17:00:00.000Z")
}

// TestADocumentThatGoesOnKeepsItsTimes: it was stored some time after it was written, and is the same document all the same.
func TestADocumentThatGoesOnKeepsItsTimes(t *testing.T) {
	const doc = `{"version":"1.0","id":"r-1","traceId":"t-1","from":{"agent":"claude"},"to":{"agent":"codex"},"type":"request","priority":"normal",` +
		`"timestamp":"2026-02-25T18:50:00+08:00","ttl":3600,"payload":{"action":"task.assign","params":{"text":"x"},"deadline":"2026-02-25T20:00:00+08:00"}}`
	a, err := Decode(ClawOS, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	stored := again(a)
	stored.Message.CreatedAt = a.At.Add(1700 * time.Millisecond).UTC()
	expires := a.ExpiresAt.UTC()
	stored.Message.ExpiresAt, stored.Recipient = &expires, "codex"
	out := mustEncode(t, ClawOS, stored)
	wantText(t, "timestamp", out.text("timestamp"), "2026-02-25T18:50:00+08:00")
	wantText(t, "ttl", string(out.raw("ttl")), "3600")
	wantText(t, "deadline", out.object("payload").text("deadline"), "2026-02-25T20:00:00+08:00")

	stored.Message.CreatedAt = a.At.Add(-time.Hour) // nobody dates a document ahead
	wantText(t, "from the future", mustEncode(t, ClawOS, stored).text("timestamp"), "2026-02-25T09:50:00.000Z")
	stored = again(a)
	stored.Name, stored.Message.CreatedAt = "another", a.At.Add(time.Minute)
	wantText(t, "under another id", mustEncode(t, ClawOS, stored).text("timestamp"), "2026-02-25T10:51:00.000Z")
}

// TestTTLIsExact: part of a millisecond is not a second.
func TestTTLIsExact(t *testing.T) {
	expires := began.Add(time.Hour + 400*time.Microsecond)
	out := plainDeparture(ClawOS, parley.Message{Type: parley.TypeChat, Content: parley.Content{Text: "x"}, ExpiresAt: &expires})
	wantText(t, "ttl", string(mustEncode(t, ClawOS, out).raw("ttl")), "3600")
}

// TestNothingIsCutWithoutAWord: only the text of a document is cut. What else does not fit is refused.
func TestNothingIsCutWithoutAWord(t *testing.T) {
	long := strings.Repeat("word ", 4<<10)
	payload := json.RawMessage(`{"rows":"` + strings.Repeat("row ", 5<<10) + `"}`)
	for what, m := range map[string]parley.Message{
		"a payload":                {Type: parley.TypeChat, Content: parley.Content{Text: "see the payload"}, Payload: payload},
		"a payload and a text":     {Type: parley.TypeChat, Content: parley.Content{Text: long}, Payload: payload},
		"code":                     {Type: parley.TypeChat, Content: parley.Content{Text: "see the code", Code: long}},
		"metadata":                 {Type: parley.TypeChat, Content: parley.Content{Text: "see the metadata"}, Metadata: json.RawMessage(`{"note":"` + long + `"}`)},
		"a payload of this format": {Type: parley.TypeTask, Content: parley.Content{Text: "short"}, Payload: json.RawMessage(`{"task":"short","context":{"files":["` + long + `"]}}`)},
	} {
		raw, err := EncodeWithin(Routing, plainDeparture(Routing, m), RoutingLimit, "x.txt")
		if parley.CodeOf(err) != parley.BadInput || parley.AsError(err).Reason != parley.TooLarge {
			t.Errorf("%s of 20 KB: %v, %.200s", what, err, raw)
		}
	}
	small := json.RawMessage(`{"rows":3}`)
	for what, m := range map[string]parley.Message{
		"a text and a payload":        {Type: parley.TypeChat, Content: parley.Content{Text: long}, Payload: small},
		"a text in its payload":       {Type: parley.TypeTask, Content: parley.Content{Text: long}, Payload: json.RawMessage(`{"task":"` + long + `","context":{"files":["/a"]}}`)},
		"a text with code":            {Type: parley.TypeChat, Content: parley.Content{Text: long, Code: "x := 1"}},
		"a text with a wider payload": {Type: parley.TypeResult, Content: parley.Content{Text: long}, Payload: json.RawMessage(`{"status":"success","deliverables":{"files_modified":["/b"]}}`)},
	} {
		out := plainDeparture(Routing, m)
		raw, err := EncodeWithin(Routing, out, RoutingLimit, "x.txt")
		if err != nil || len(raw) > RoutingLimit {
			t.Fatalf("%s: %d bytes, %v", what, len(raw), err)
		}
		doc := parseObject(raw)
		wantText(t, what+" is marked", string(doc.object("metadata").raw("truncated"))+" "+doc.object("metadata").text("artifact"), "true x.txt")
		a, err := Decode(Routing, raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Draft.Content; !strings.HasPrefix(long, got.Text) || len(got.Text) < 4<<10 || got.Code != m.Content.Code {
			t.Errorf("%s: the text has %d bytes, and the code is %q", what, len(got.Text), got.Code)
		}
		want := strings.ReplaceAll(string(m.Payload), long, a.Draft.Content.Text)
		wantText(t, what+": the payload", string(a.Draft.Payload), want)
	}
}

// TestProgressHasTheWordsOfEachFormat: how far a task has come is a percentage in one format and a fraction in the other.
func TestProgressHasTheWordsOfEachFormat(t *testing.T) {
	for what, c := range map[string]struct{ payload, s1, s3 string }{
		"a fraction": {
			`{"status":"in_progress","progress":0.65,"message":"half"}`, `{"event":"progress","message":"half","progress":{"percent":65}}`,
			`{"status":"in_progress","progress":0.65,"message":"half"}`,
		},
		"a count": {
			`{"event":"progress","message":"half","progress":{"current":3,"total":10,"percent":30}}`,
			`{"event":"progress","message":"half","progress":{"current":3,"total":10,"percent":30}}`,
			`{"status":"in_progress","progress":0.3,"message":"half"}`,
		},
		"a count alone": {
			`{"event":"progress","message":"half","progress":{"current":1,"total":4}}`,
			`{"event":"progress","message":"half","progress":{"current":1,"total":4}}`, `{"status":"in_progress","progress":0.25,"message":"half"}`,
		},
		"both": {
			`{"status":"in_progress","progress":0.3,"current":3,"total":10,"message":"half"}`,
			`{"event":"progress","message":"half","progress":{"percent":30,"current":3,"total":10}}`,
			`{"status":"in_progress","progress":0.3,"current":3,"total":10,"message":"half"}`,
		},
		"blocked": {
			`{"status":"blocked","message":"half","blockers":["no key"]}`, `{"event":"warning","message":"half"}`,
			`{"status":"blocked","message":"half","blockers":["no key"]}`,
		},
		"a warning": {
			`{"event":"warning","message":"half"}`, `{"event":"warning","message":"half"}`, `{"status":"blocked","blockers":["half"],"message":"half"}`,
		},
	} {
		for d, want := range map[Dialect]string{ClawOS: c.s1, Routing: c.s3} {
			out := plainDeparture(d, parley.Message{Type: parley.TypeStatus, Content: parley.Content{Text: "half"}, Payload: json.RawMessage(c.payload)})
			wantText(t, what+" in "+string(d), string(mustEncode(t, d, out).raw("payload")), want)
		}
	}
}

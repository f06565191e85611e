package parley

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var sameDraft = cmp.AllowUnexported(Priority{})

// small are limits that a test can fill quickly.
func small() Limits { return Limits{Body: 100, Artifact: 1000, Depth: 3, Mentions: 2} }

func TestDefaultLimits(t *testing.T) {
	if got, want := DefaultLimits(), (Limits{Body: 262144, Artifact: 67108864, Depth: 32, Mentions: 64}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDraftGetsDefaultsAndNothingElse(t *testing.T) {
	got, err := Draft{Conversation: "#x", Content: Content{Text: "hi"}}.Check(DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := Draft{Conversation: "#x", Content: Content{Text: "hi"}, Type: TypeChat, Priority: DefaultPriority}
	if diff := cmp.Diff(want, got, sameDraft); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// fullDraft has a value in every field but those that exclude each other.
func fullDraft() Draft {
	low, _ := ParsePriority("low")
	return Draft{
		Direct: []string{"gendry"}, Ephemeral: true, From: "arya", To: "gendry", Type: "ha_report", Priority: low, TTL: 60,
		Deadline: at(5000), InReplyTo: "m1", RequiresAck: true, TraceID: "t",
		Content: Content{Text: " keeps its space ", Code: "x", Artifacts: []Artifact{{Path: "/tmp/x", Size: 1}}},
		Payload: json.RawMessage(`{"a":1}`), Metadata: json.RawMessage(`{"b":{"c":[]}}`), IdempotencyKey: "k", Sequence: 3, Task: "task-1",
	}
}

func TestDraftThatIsRightStaysAsItIs(t *testing.T) {
	full := fullDraft()
	for i := range reflect.TypeFor[Draft]().NumField() {
		name := reflect.TypeFor[Draft]().Field(i).Name
		if reflect.ValueOf(full).Field(i).IsZero() && name != "Conversation" && name != "Make" {
			t.Fatalf("the test's draft has no %s", name)
		}
	}
	got, err := full.Check(small())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullDraft(), got, sameDraft); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spaced := fullDraft()
	spaced.Payload = json.RawMessage(" { \"a\" :\n1 } ")
	if got, err = spaced.Check(small()); err != nil || string(got.Payload) != `{"a":1}` {
		t.Errorf("got %s, %v", got.Payload, err)
	}
	if string(spaced.Payload) != " { \"a\" :\n1 } " {
		t.Errorf("the caller's own bytes were changed to %q", spaced.Payload)
	}
}

func TestDraftAtItsLimits(t *testing.T) {
	x := strings.Repeat
	object := func(bytes int) json.RawMessage { return json.RawMessage(`{"k":"` + x("p", bytes-8) + `"}`) }
	for _, c := range []struct {
		name  string
		limit int
		set   func(d *Draft, n int)
		names []string // besides limit and size
	}{
		{"text", 100, func(d *Draft, n int) { d.Content.Text = x("x", n) }, []string{"text"}},
		{"text counts bytes", 50, func(d *Draft, n int) { d.Content.Text = x("é", n) }, nil},
		{"code", 100, func(d *Draft, n int) { d.Content.Code = x("x", n) }, []string{"code"}},
		{"payload", 100, func(d *Draft, n int) { d.Payload = object(n) }, []string{"payload"}},
		{"metadata", 100, func(d *Draft, n int) { d.Content.Text = "x"; d.Metadata = object(n) }, []string{"metadata"}},
		{"text and payload", 90, func(d *Draft, n int) { d.Content.Text = x("x", n); d.Payload = object(10) }, []string{"text", "payload"}},
		{"text and code", 90, func(d *Draft, n int) { d.Content.Text = x("x", n); d.Content.Code = x("x", 10) }, []string{"text", "code"}},
		{"artifact", 1000, func(d *Draft, n int) { d.Content.Artifacts = []Artifact{{Path: "p", Size: int64(n)}} }, []string{"artifact"}},
		{"to", 256, func(d *Draft, n int) { d.Content.Text = "x"; d.To = strings.Repeat("x", n) }, []string{"to"}},
		{"from", 256, func(d *Draft, n int) { d.Content.Text = "x"; d.From = strings.Repeat("x", n) }, []string{"from"}},
		{"in_reply_to", 256, func(d *Draft, n int) { d.Content.Text = "x"; d.InReplyTo = strings.Repeat("x", n) }, []string{"in_reply_to"}},
		{"conversation", 8192, func(d *Draft, n int) { d.Content.Text = "x"; d.Conversation = strings.Repeat("x", n) }, []string{"conversation"}},
		{"direct", 256, func(d *Draft, n int) {
			d.Content.Text = "x"
			d.Conversation, d.Direct = "", []string{strings.Repeat("x", n)}
		}, []string{"direct"}},
		{"recipients", 64, func(d *Draft, n int) {
			d.Content.Text = "x"
			d.Conversation, d.Direct = "", slices.Repeat([]string{"x"}, n)
		}, []string{"recipients"}},
		{"artifacts", 64, func(d *Draft, n int) { d.Content.Artifacts = slices.Repeat([]Artifact{{Path: "p"}}, n) }, []string{"artifacts"}},
		{"artifact name", 255, func(d *Draft, n int) { d.Content.Artifacts = []Artifact{{Path: "p", Name: x("n", n)}} }, []string{"name"}},
		{"artifact path", 1024, func(d *Draft, n int) { d.Content.Artifacts = []Artifact{{Path: x("p", n)}} }, []string{"path"}},
		{"media type", 1024, func(d *Draft, n int) { d.Content.Artifacts = []Artifact{{Path: "p", MediaType: x("m", n)}} }, []string{"media_type"}},
		{"depth of payload", 3, func(d *Draft, n int) { d.Payload = nested(n) }, []string{"payload"}},
		{"depth of metadata", 3, func(d *Draft, n int) { d.Content.Text = "x"; d.Metadata = nested(n) }, []string{"metadata"}},
		{"idempotency key", 255, func(d *Draft, n int) { d.Content.Text = "x"; d.IdempotencyKey = x("k", n) }, []string{"idempotency_key"}},
		{"trace", 128, func(d *Draft, n int) { d.Content.Text = "x"; d.TraceID = x("t", n) }, []string{"trace_id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := Draft{Conversation: "c", Type: TypeChat, Priority: DefaultPriority}
			c.set(&full, c.limit)
			if got, err := full.Check(small()); err != nil {
				t.Errorf("at the limit: %v", err)
			} else if diff := cmp.Diff(full, got, sameDraft); diff != "" {
				t.Errorf("at the limit something changed:\n%s", diff)
			}
			over := Draft{Conversation: "c"}
			c.set(&over, c.limit+1)
			_, err := over.Check(small())
			if c.name != "text counts bytes" {
				sum := c.limit
				if strings.Contains(c.name, " and ") {
					sum = 100
				}
				c.names = append(c.names, strconv.Itoa(sum), strconv.Itoa(sum+1))
			}
			refused(t, err, c.names...)
			if AsError(err).Reason != TooLarge {
				t.Errorf("the reason is %q", AsError(err).Reason)
			}
		})
	}
}

// nested is an object that is depth levels deep.
func nested(depth int) json.RawMessage {
	return json.RawMessage(`{"k":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`)
}

func TestDraftWithADefaultLimitOfText(t *testing.T) {
	d := Draft{Conversation: "c", Content: Content{Text: strings.Repeat("x", 256<<10)}}
	if _, err := d.Check(DefaultLimits()); err != nil {
		t.Error(err)
	}
	d.Payload = json.RawMessage(`{}`)
	_, err := d.Check(DefaultLimits())
	refused(t, err, "262146", "262144")
}

func TestDraftThatIsRefused(t *testing.T) {
	hello := func(d Draft) Draft {
		if d.Content.Text == "" {
			d.Content.Text = "hello"
		}
		if d.Conversation == "" && d.Direct == nil {
			d.Conversation = "c"
		}
		return d
	}
	for _, c := range []struct {
		d     Draft
		names string
	}{
		{Draft{Content: Content{Text: "x"}}, "no conversation"},
		{Draft{Content: Content{Text: "x"}, To: "arya"}, "no conversation"},
		{hello(Draft{Conversation: "c", Direct: []string{"arya"}}), "conversation and recipients"},
		{hello(Draft{Ephemeral: true}), "ephemeral"},
		{hello(Draft{Ephemeral: true, Direct: []string{"a", "b"}}), "ephemeral"},
		{hello(Draft{TTL: -1}), "ttl is -1"},
		{hello(Draft{Sequence: -1}), "sequence is -1"},
		{hello(Draft{Sequence: 1<<53 + 1}), "sequence is 9007199254740993"},
		{hello(Draft{TTL: 1 << 62}), "ttl"}, // times a second it would overflow
		{hello(Draft{TraceID: "a b"}), "trace_id"},
		{hello(Draft{IdempotencyKey: "a\x00"}), "idempotency_key"},
		{hello(Draft{Conversation: "a\x00"}), "conversation"},
		{hello(Draft{Direct: []string{"a", "\x00"}}), "direct"},
		{hello(Draft{From: "\xff"}), "from"},
		{hello(Draft{To: "a\x00"}), "to"},
		{hello(Draft{InReplyTo: "a\x00"}), "in_reply_to"},
		{hello(Draft{Content: Content{Text: "a\x00b"}}), "text contains a NUL"},
		{hello(Draft{Content: Content{Text: "a\xffb"}}), "text is not valid UTF-8"},
		{hello(Draft{Content: Content{Code: "\xff"}}), "code"},
		{hello(Draft{Payload: json.RawMessage(`[]`)}), "payload is not a JSON object"},
		{hello(Draft{Payload: json.RawMessage(`"x"`)}), "payload is not a JSON object"},
		{hello(Draft{Metadata: json.RawMessage(`{`)}), "metadata is not JSON"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{Name: "n"}}}}), "either sha256 or path"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{Path: "p", SHA256: strings.Repeat("a", 64)}}}}), "either sha256 or path"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{SHA256: strings.Repeat("G", 64)}}}}), "hexadecimal"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{SHA256: strings.Repeat("a", 63)}}}}), "hexadecimal"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{SHA256: strings.Repeat("a", 64) + "\n"}}}}), "hexadecimal"},
		{hello(Draft{Content: Content{Artifacts: []Artifact{{Path: "p\x00"}}}}), "artifact path"},
		{Draft{Conversation: "c"}, "empty"},
		{Draft{Conversation: "c", Content: Content{Text: " \n\t\u00a0"}}, "empty"},
		{Draft{Conversation: "c", Metadata: json.RawMessage(`{"a":1}`)}, "empty"},
	} {
		_, err := c.d.Check(DefaultLimits())
		refused(t, err, c.names)
	}
	_, err := hello(Draft{Content: Content{Artifacts: []Artifact{{Path: "p", Size: -1}}}}).Check(DefaultLimits())
	refused(t, err, "-1")
	if AsError(err).Reason == TooLarge {
		t.Error("a negative size is called too large")
	}
}

func TestDraftOfAReplyNeedsNoConversation(t *testing.T) {
	d := Draft{InReplyTo: "m1", Content: Content{Text: "x"}}
	if _, err := d.Check(DefaultLimits()); err != nil {
		t.Error(err)
	}
}

func TestDraftNeedsOnlyOneKindOfContent(t *testing.T) {
	for name, d := range map[string]Draft{
		"text":     {Content: Content{Text: "x"}},
		"code":     {Content: Content{Code: "x"}},
		"payload":  {Payload: json.RawMessage(`{}`)},
		"artifact": {Content: Content{Artifacts: []Artifact{{SHA256: strings.Repeat("0a", 32)}}}},
	} {
		d.Conversation = "c"
		if _, err := d.Check(DefaultLimits()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTypes(t *testing.T) {
	check := func(typ Type) error {
		_, err := Draft{Conversation: "c", Type: typ, Content: Content{Text: "x"}}.Check(DefaultLimits())
		return err
	}
	for typ, wakes := range map[Type]bool{
		"chat": true, "request": true, "response": true, "notification": false, "error": false, "command": false,
		"status": false, "heartbeat": false, "task": true, "result": true, "ha_report": true, "qc-review": true, "a": true,
		"status-update": true, Type("z" + strings.Repeat("9", 63)): true,
	} {
		if err := check(typ); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
		if typ.Wakes() != wakes {
			t.Errorf("%s: wakes is %t", typ, !wakes)
		}
	}
	for _, typ := range []Type{"Chat", "9a", "_a", "-a", "a b", "a\n", "é", "a.b", Type("z" + strings.Repeat("9", 64))} {
		refused(t, check(typ), "message type")
	}
}

func TestMessageFieldsAsJSON(t *testing.T) {
	raw, err := json.Marshal(fullMessage())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`checksum content conversation created_at deadline expires_at from hops id idempotency_key in_reply_to
		mentions metadata payload priority requires_ack seq source task to trace_id type`)
	var got []string
	for name := range fields {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if string(fields["priority"]) != `"high"` || string(fields["created_at"]) != `"1970-01-01T00:00:01Z"` {
		t.Errorf("priority %s, created_at %s", fields["priority"], fields["created_at"])
	}
}

func TestCompactObject(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		`{}`:                            `{}`,
		" {\t}\r\n":                     `{}`,
		`{ "b" : 1 , "a" : [ 1 , 2 ] }`: `{"b":1,"a":[1,2]}`,
		`{"a":{"a":{"a":1}}}`:           `{"a":{"a":{"a":1}}}`,
		`{"a":[{"b":1},{"b":1}]}`:       `{"a":[{"b":1},{"b":1}]}`,
		`{"a":"a","b":"a"}`:             `{"a":"a","b":"a"}`,
		`{"n":1.0,"big":12345678901234567890,"e":1E+2}`: `{"n":1.0,"big":12345678901234567890,"e":1E+2}`,
		`{"s":" <&> \u2028 \/ é "}`:                     `{"s":" <&> \u2028 \/ é "}`,
		`{"a":1,"A":2}`:                                 `{"a":1,"A":2}`,
		`{"":1}`:                                        `{"":1}`,
		`{"a":["b","b",{"b":"b"},"b"]}`:                 `{"a":["b","b",{"b":"b"},"b"]}`,
	} {
		got, err := CompactObject("payload", json.RawMessage(in), DefaultLimits())
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", in, got, err)
		}
	}
	for in, names := range map[string]string{
		" ": "not JSON", "nul": "not JSON", "{": "not JSON", "}": "not JSON", "{]": "not JSON", "[}": "not JSON",
		`{"a"}`: "not JSON", `{"a":}`: "not JSON", `{"a":1,}`: "not JSON", `{,}`: "not JSON", `{"a":1 "b":2}`: "not JSON",
		`{"a":[1,]}`: "not JSON", `{a:1}`: "not JSON", `{"a":01}`: "not JSON", `{"a":"` + "\n" + `"}`: "not JSON",
		`{}{}`: "not JSON", `{} x`: "not JSON", "\ufeff{}": "not JSON", `{"a":NaN}`: "not JSON", `{1:2}`: "not JSON",
		`[]`: "not a JSON object", `1`: "not a JSON object", `"x"`: "not a JSON object", `null`: "not a JSON object",
		`{"a":1,"a":1}`: `"a" twice`, `{"a":1,"\u0061":2}`: `"a" twice`, `{"x":[{"a":1,"b":{},"a":2}]}`: `"a" twice`,
		`{"a":{"a":1},"a":2}`: `"a" twice`, `{"a":[],"a":[]}`: `"a" twice`, `{"":1,"":2}`: "twice",
		"{\"a\":\"\xff\"}": "UTF-8", "{\"\xff\":1,\"\xfe\":2}": "UTF-8",
	} {
		_, err := CompactObject("payload", json.RawMessage(in), DefaultLimits())
		refused(t, err, "payload", names)
	}
	for _, depth := range []int{33, 34, 10_001, 100_000} {
		_, err := CompactObject("payload", nested(depth), DefaultLimits())
		refused(t, err, "payload", "32", strconv.Itoa(depth))
	}
	if _, err := CompactObject("payload", nested(32), DefaultLimits()); err != nil {
		t.Error(err)
	}
}

// meaning is a JSON value without regard to space and order, numbers as written.
func meaning(t interface{ Fatalf(string, ...any) }, raw []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q is not JSON: %v", raw, err)
	}
	return v
}

// keys counts the keys that stand in a JSON text, and those that a reader keeps.
func keys(t interface{ Fatalf(string, ...any) }, raw []byte) (written, kept int) {
	// A string is a key if a colon follows it; in compact JSON it follows at once.
	for at := 0; at < len(raw); at++ {
		if raw[at] != '"' {
			continue
		}
		for at++; raw[at] != '"'; at++ {
			if raw[at] == '\\' {
				at++
			}
		}
		if at+1 < len(raw) && raw[at+1] == ':' {
			written++
		}
	}
	var count func(any) int
	count = func(v any) int {
		n := 0
		switch v := v.(type) {
		case map[string]any:
			n = len(v)
			for _, inner := range v {
				n += count(inner)
			}
		case []any:
			for _, inner := range v {
				n += count(inner)
			}
		}
		return n
	}
	return written, count(meaning(t, raw))
}

func checkCompact(t interface {
	Fatalf(string, ...any)
}, raw []byte,
) {
	before := bytes.Clone(raw)
	got, err := CompactObject("payload", raw, DefaultLimits())
	if !bytes.Equal(raw, before) {
		t.Fatalf("the argument was changed from %q to %q", before, raw)
	}
	if err != nil {
		if CodeOf(err) != BadInput || AsError(err).Suggestion == "" || got != nil {
			t.Fatalf("%q: got %q, %v", raw, got, err)
		}
		return
	}
	if len(raw) == 0 {
		if got != nil {
			t.Fatalf("nothing became %q", got)
		}
		return
	}
	if len(got) > len(raw) || got[0] != '{' || !json.Valid(got) {
		t.Fatalf("%q became %q", raw, got)
	}
	if again, err := CompactObject("payload", got, DefaultLimits()); err != nil || !bytes.Equal(again, got) {
		t.Fatalf("%q became %q, and then %q, %v", raw, got, again, err)
	}
	if !reflect.DeepEqual(meaning(t, raw), meaning(t, got)) {
		t.Fatalf("%q changed its meaning: %q", raw, got)
	}
	if written, kept := keys(t, got); written != kept {
		t.Fatalf("%q has %d keys, of which a reader keeps %d", got, written, kept)
	}
}

func TestCompactObjectKeepsTheMeaning(t *testing.T) {
	var value func(depth int) *rapid.Generator[string]
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
	str := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"\""`, `"\\"`, `"a:"`, `"<"`, `""`})
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 4).Draw(t, "kind")
			if depth == 0 && kind > 2 {
				kind = 0
			}
			s := space.Draw(t, "space")
			switch kind {
			case 0:
				return s + rapid.SampledFrom([]string{"1", "-0.5e3", "true", "null"}).Draw(t, "atom")
			case 1, 2:
				return str.Draw(t, "string") + s
			case 3:
				return "[" + s + strings.Join(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list"), ",") + "]"
			default:
				var pairs []string
				for range rapid.IntRange(0, 3).Draw(t, "size") {
					pairs = append(pairs, str.Draw(t, "key")+s+":"+value(depth-1).Draw(t, "value"))
				}
				return "{" + strings.Join(pairs, s+",") + "}" + s
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		checkCompact(t, []byte(`{"x":`+value(4).Draw(t, "json")+`}`))
	})
}

func FuzzCompactObject(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `{ "a" : [ 1 , { "b" : null } ] }`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\ud800":1,"\udfff":2}`,
		`{"a":"\\","b":"\""}`, `{]`, `[]`, `{}{}`, `{"a":1e999}`, `{"a":-}`, "{\"\u2028\":0}", "\ufeff{}", `{"a":"` + "\x00" + `"}`,
		string(nested(32)), string(nested(33)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkCompact(t, raw) })
}

// FuzzDraft hands in what a client may send over any door.
func FuzzDraft(f *testing.F) {
	f.Add([]byte(`{"conversation":"#x","content":{"text":"hi"}}`))
	f.Add([]byte(`{"direct":["a"],"ephemeral":true,"priority":"urgent","ttl":5,"payload":{"a":1},"content":{"code":"x"}}`))
	f.Add([]byte(`{"conversation":"c","type":"x","deadline":"2026-01-01T00:00:00.5+02:00","content":{"artifacts":[{"path":"p","size":-1}]}}`))
	f.Add([]byte(`{"conversation":"\u0000","priority":null,"payload":null,"content":{"text":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d Draft
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		got, err := d.Check(DefaultLimits())
		if err != nil {
			refused(t, err)
			return
		}
		again, err := got.Check(DefaultLimits())
		if err != nil {
			t.Fatalf("what was accepted is refused the second time: %v", err)
		}
		if diff := cmp.Diff(got, again, sameDraft); diff != "" {
			t.Fatalf("a second check changed something:\n%s", diff)
		}
		got.Type, got.Priority, got.Payload, got.Metadata = d.Type, d.Priority, d.Payload, d.Metadata
		if diff := cmp.Diff(d, got, sameDraft); diff != "" {
			t.Fatalf("more than defaults and JSON changed:\n%s", diff)
		}
		if fmt.Sprint(got.Deadline) != fmt.Sprint(d.Deadline) || time.Duration(got.TTL)*time.Second < 0 {
			t.Fatalf("deadline %v, ttl %d", got.Deadline, got.TTL)
		}
	})
}

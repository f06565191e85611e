package parley

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func at(ms int64) *time.Time {
	t := time.UnixMilli(ms).UTC()
	return &t
}

// fullMessage has a value in every field.
func fullMessage() Message {
	high, _ := ParsePriority("high")
	return Message{
		ID: "0190a8c4-5f4e-7000-8000-000000000001", Seq: 42, TraceID: "trace", Conversation: "c1", From: "arya", To: "gendry",
		Mentions: []string{"gendry", "all"}, Type: TypeChat, Priority: high, CreatedAt: *at(1000), ExpiresAt: at(2000),
		Deadline: at(3000), InReplyTo: "m0", RequiresAck: true, Task: "task-1",
		Content: Content{Text: "hi <you> & me", Code: "x := 1", Artifacts: []Artifact{
			{Name: "n", MediaType: "text/plain", Size: 3, SHA256: strings.Repeat("ab", 32), Path: "/p"},
		}},
		Payload: json.RawMessage(`{"a":"<&>"}`), Metadata: json.RawMessage(`{"b":2}`), Source: "cli", Hops: 3,
		IdempotencyKey: "key", Checksum: "sum",
	}
}

// change gives a field another value. A field of a new type fails the test until it is added here.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p += "x"
	case *Type:
		*p += "x"
	case *int:
		*p++
	case *int64:
		*p++
	case *bool:
		*p = !*p
	case *[]string:
		*p = append(slices.Clone(*p), "x")
	case *json.RawMessage:
		*p = json.RawMessage(`{"changed":true}`)
	case *time.Time:
		*p = p.Add(time.Millisecond)
	case **time.Time:
		later := (*p).Add(time.Millisecond)
		*p = &later
	case *Priority:
		*p = Priority{level: p.level - 1, word: p.word}
	case *[]Artifact:
		*p = append(slices.Clone(*p), Artifact{Path: "x"})
	default:
		t.Fatalf("the test cannot change a %s", v.Type())
	}
}

func TestSealCoversEveryField(t *testing.T) {
	full := fullMessage()
	seen := map[string]string{full.Seal(full.BodyDigest()): "the message itself"}
	add := func(name string, m Message) {
		seal := m.Seal(m.BodyDigest())
		if other, ok := seen[seal]; ok {
			t.Errorf("a change of %s gives the same seal as %s", name, other)
		}
		seen[seal] = name
	}
	each := func(path string, typ reflect.Type, within func(*Message) reflect.Value) {
		for i := range typ.NumField() {
			name := typ.Field(i).Name
			if name == "Damage" || name == "RedactedAt" || name == "Digest" { // see TestRedactedMessageIsVerifiedByItsDigest
				continue
			}
			if reflect.ValueOf(full).FieldByName(name).IsValid() && reflect.ValueOf(full).FieldByName(name).IsZero() {
				t.Fatalf("the test's message has no %s", name)
			}
			if name == "Checksum" || name == "Content" {
				continue
			}
			m := fullMessage()
			change(t, within(&m).Field(i))
			add(path+name, m)
			if within(&m).Field(i).Kind() != reflect.Bool {
				within(&m).Field(i).SetZero()
				add("no "+path+name, m)
			}
		}
	}
	each("", reflect.TypeFor[Message](), func(m *Message) reflect.Value { return reflect.ValueOf(m).Elem() })
	each("content.", reflect.TypeFor[Content](), func(m *Message) reflect.Value { return reflect.ValueOf(&m.Content).Elem() })
	each("artifact.", reflect.TypeFor[Artifact](), func(m *Message) reflect.Value {
		return reflect.ValueOf(&m.Content.Artifacts[0]).Elem()
	})
	word := fullMessage()
	word.Priority, _ = PriorityOf(word.Priority.Level())
	add("the word of the priority", word)

	full.Checksum = "another" // the seal is not made from itself
	if seen[full.Seal(full.BodyDigest())] != "the message itself" {
		t.Error("the seal depends on the checksum")
	}
}

func TestRedactedMessageIsVerifiedByItsDigest(t *testing.T) {
	full := fullMessage()
	full.Checksum = full.Seal(full.BodyDigest())
	redacted := full.Redacted(*at(5000))
	if !redacted.Intact() {
		t.Error("a redacted message is not intact")
	}
	digest := full.BodyDigest()
	want := full
	want.Content, want.Payload, want.Metadata = Content{}, nil, nil
	want.RedactedAt, want.Digest = at(5000), hex.EncodeToString(digest[:])
	if diff := cmp.Diff(want, redacted, cmp.AllowUnexported(Priority{})); diff != "" {
		t.Errorf("redacted (-want +got):\n%s", diff)
	}
	for name, spoil := range map[string]func(*Message){
		"a text":          func(m *Message) { m.Content.Text = "x" },
		"code":            func(m *Message) { m.Content.Code = "x" },
		"an artifact":     func(m *Message) { m.Content.Artifacts = full.Content.Artifacts },
		"a payload":       func(m *Message) { m.Payload = full.Payload },
		"metadata":        func(m *Message) { m.Metadata = full.Metadata },
		"another digest":  func(m *Message) { m.Digest = strings.Repeat("0", 64) },
		"no digest":       func(m *Message) { m.Digest = "" },
		"half a digest":   func(m *Message) { m.Digest = m.Digest[:32] },
		"another sender":  func(m *Message) { m.From = "sansa" },
		"not redacted":    func(m *Message) { m.RedactedAt = nil },
		"another's place": func(m *Message) { m.Seq++ },
	} {
		spoilt := redacted
		if spoil(&spoilt); spoilt.Intact() {
			t.Errorf("with %s it is intact", name)
		}
	}
}

func TestSealSeesWhereOneFieldEnds(t *testing.T) {
	for name, shift := range map[string]func(*Message){
		"trace to conversation": func(m *Message) { m.TraceID, m.Conversation = m.TraceID+m.Conversation, "" },
		"from to to":            func(m *Message) { m.From, m.To = m.From+m.To[:1], m.To[1:] },
		"netstring in a field":  func(m *Message) { m.From, m.To = "arya,6:gendry", "" },
		"text to code":          func(m *Message) { m.Content.Text, m.Content.Code = "", m.Content.Text+m.Content.Code },
		"payload to metadata":   func(m *Message) { m.Payload, m.Metadata = m.Metadata, m.Payload },
		"deadline to expiry":    func(m *Message) { m.ExpiresAt, m.Deadline = nil, m.ExpiresAt },
		"one mention for two":   func(m *Message) { m.Mentions = []string{strings.Join(m.Mentions, ",")} },
		"order of mentions":     func(m *Message) { slices.Reverse(m.Mentions) },
		"an empty mention":      func(m *Message) { m.Mentions = append(m.Mentions, "") },
		"reply to task":         func(m *Message) { m.InReplyTo, m.Task = m.Task, m.InReplyTo },
	} {
		full, shifted := fullMessage(), fullMessage()
		shift(&shifted)
		if full.Seal(full.BodyDigest()) == shifted.Seal(shifted.BodyDigest()) {
			t.Errorf("%s: the seal is the same", name)
		}
	}
}

// The form is stored with every message: whoever changes it must give it a new name.
func TestCanonicalFormIsStable(t *testing.T) {
	var body [32]byte
	copy(body[:], strings.Repeat("B", 32))
	want := "16:parley-message-1,36:0190a8c4-5f4e-7000-8000-000000000001,2:42,5:trace,2:c1,4:arya,6:gendry," +
		"15:6:gendry,3:all,,4:chat,1:8,4:high,4:1000,4:2000,4:3000,2:m0,4:true,6:task-1,3:cli,1:3,3:key," +
		"32:" + strings.Repeat("B", 32) + ","
	if diff := cmp.Diff(want, string(fullMessage().Canonical(body))); diff != "" {
		t.Errorf("canonical form (-want +got):\n%s", diff)
	}
	const seal = "140a0718031390331fac7f9f755b46182c8e1c07469cf47650d87c4164c1ca8d"
	if got := fullMessage().Seal(fullMessage().BodyDigest()); got != seal {
		t.Errorf("got %s, want %s", got, seal)
	}
}

func TestSealIgnoresTimeZonesAndEmptyLists(t *testing.T) {
	full := fullMessage()
	want := full.Seal(full.BodyDigest())
	full.CreatedAt = full.CreatedAt.In(time.FixedZone("x", -7200))
	if full.Seal(full.BodyDigest()) != want {
		t.Error("the zone of a time counts")
	}
	empty, none := Message{Mentions: []string{}, Content: Content{Artifacts: []Artifact{}}}, Message{}
	if empty.Seal(empty.BodyDigest()) != none.Seal(none.BodyDigest()) {
		t.Error("an empty list differs from none, which JSON cannot tell apart")
	}
}

// anyMessage draws messages as the hub stores them: valid text, compact JSON, times in UTC milliseconds.
func anyMessage() *rapid.Generator[Message] {
	moment := rapid.Map(rapid.Int64Range(0, 4_000_000_000_000), func(ms int64) time.Time { return time.UnixMilli(ms).UTC() })
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "<a&b>\u2028\u2029", "\u00ff\ufffd", "1:a,", "\\u003c"}))
	object := rapid.Custom(func(t *rapid.T) json.RawMessage {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(rapid.Bool().Draw(t, "escape"))
		if err := enc.Encode(rapid.MapOfN(text, text, 0, 3).Draw(t, "map")); err != nil {
			t.Fatal(err)
		}
		raw, err := CompactObject("payload", b.Bytes(), DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		return raw
	})
	id := rapid.StringMatching(`[a-z0-9_-]{0,5}`)
	return rapid.Custom(func(t *rapid.T) Message {
		m := Message{
			ID: id.Draw(t, "id"), Seq: rapid.Int64().Draw(t, "seq"), TraceID: text.Draw(t, "trace"),
			Conversation: id.Draw(t, "conversation"), From: id.Draw(t, "from"), To: id.Draw(t, "to"),
			Mentions: rapid.SliceOfN(id, 0, 3).Draw(t, "mentions"), Type: Type(id.Draw(t, "type")),
			Priority: anyPriority().Draw(t, "priority"), CreatedAt: moment.Draw(t, "created"),
			ExpiresAt: rapid.Ptr(moment, true).Draw(t, "expires"), Deadline: rapid.Ptr(moment, true).Draw(t, "deadline"),
			InReplyTo: id.Draw(t, "reply"), RequiresAck: rapid.Bool().Draw(t, "ack"), Task: id.Draw(t, "task"),
			Content: Content{Text: text.Draw(t, "text"), Code: text.Draw(t, "code")},
			Source:  id.Draw(t, "source"), Hops: rapid.IntRange(0, 99).Draw(t, "hops"), IdempotencyKey: text.Draw(t, "key"),
		}
		if rapid.Bool().Draw(t, "objects") {
			m.Payload, m.Metadata = object.Draw(t, "payload"), object.Draw(t, "metadata")
		}
		for range rapid.IntRange(0, 2).Draw(t, "artifacts") {
			m.Content.Artifacts = append(m.Content.Artifacts, Artifact{
				Name: text.Draw(t, "name"), Size: rapid.Int64().Draw(t, "size"), Path: text.Draw(t, "path"),
			})
		}
		return m
	})
}

func TestSealSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage().Draw(t, "m")
		m.Checksum = m.Seal(m.BodyDigest())
		if !m.Intact() {
			t.Fatal("not intact right after sealing")
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m); err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if !back.Intact() {
			t.Fatalf("not intact after JSON:\n%s", cmp.Diff(m, back, cmp.AllowUnexported(Priority{})))
		}
		back.Content.Text += " "
		if back.Intact() {
			t.Fatal("a changed message is intact")
		}
	})
}

func TestCanonicalIsTheSameOnlyForTheSameMessage(t *testing.T) {
	same := cmp.Options{cmp.AllowUnexported(Priority{}), cmp.Transformer("list", func(s []string) string {
		raw, _ := json.Marshal(append([]string{}, s...))
		return string(raw)
	}), cmp.Transformer("object", func(r json.RawMessage) string { return string(r) })}
	rapid.Check(t, func(t *rapid.T) {
		a := anyMessage().Draw(t, "a")
		b := a
		other := anyMessage().Draw(t, "other")
		fields := reflect.ValueOf(&b).Elem()
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			i := rapid.IntRange(0, fields.NumField()-1).Draw(t, "field")
			fields.Field(i).Set(reflect.ValueOf(other).Field(i))
		}
		equal := cmp.Equal(a, b, same)
		if got := bytes.Equal(a.Canonical(a.BodyDigest()), b.Canonical(b.BodyDigest())); got != equal {
			t.Fatalf("same form: %t, same message: %t\n%s", got, equal, cmp.Diff(a, b, same))
		}
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add("arya", "gendry", "a,b", "", "arya,6:gendry", "", "a", "b")
	f.Add("", "1:a,", "", "", "1:a,", "", "", "")
	f.Add("x", "", ",", "0:,", "x", "", "", ",0:,")
	f.Fuzz(func(t *testing.T, a1, a2, a3, a4, b1, b2, b3, b4 string) {
		a := Message{From: a1, To: a2, Mentions: []string{a3, a4}, Content: Content{Text: a1, Code: a2}, Payload: []byte(a3), Metadata: []byte(a4)}
		b := Message{From: b1, To: b2, Mentions: []string{b3, b4}, Content: Content{Text: b1, Code: b2}, Payload: []byte(b3), Metadata: []byte(b4)}
		equal := a1 == b1 && a2 == b2 && a3 == b3 && a4 == b4
		var body [32]byte
		if bytes.Equal(a.Canonical(body), b.Canonical(body)) != equal {
			t.Errorf("the canonical forms agree, the messages do not:\n%q\n%q", a.Canonical(body), b.Canonical(body))
		}
		if (a.BodyDigest() == b.BodyDigest()) != equal {
			t.Errorf("the digests agree, the bodies do not: %+v, %+v", a.Content, b.Content)
		}
		a.Checksum = a.Seal(a.BodyDigest())
		if !a.Intact() {
			t.Error("not intact right after sealing")
		}
	})
}

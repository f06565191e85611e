package dialect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var all = []Dialect{AgentOS, ClawOS, Routing}

// again is the departure of what has arrived, to where it came from.
func again(a parley.Arrival) parley.Departure {
	d := a.Draft
	m := parley.Message{
		From: a.From, To: a.To, Type: d.Type, Priority: d.Priority, CreatedAt: a.At, Deadline: d.Deadline, RequiresAck: d.RequiresAck,
		TraceID: d.TraceID, Content: d.Content, Payload: d.Payload, Metadata: d.Metadata,
	}
	if !m.Priority.Given() {
		m.Priority = parley.DefaultPriority
	}
	if !a.ExpiresAt.IsZero() {
		m.ExpiresAt = &a.ExpiresAt
	}
	return parley.Departure{
		Name: a.Name, Message: m, Channel: a.Channel, Sequence: d.Sequence, ReplyTo: a.ReplyTo, FromTier: a.FromTier, ToTier: a.ToTier,
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// identity checks that a document comes back as it was.
func identity(t failer, d Dialect, raw []byte) {
	t.Helper()
	a, err := Decode(d, raw)
	if err != nil {
		t.Fatalf("%s: %v\n%s", d, err, raw)
	}
	back, err := Encode(d, again(a))
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	if !equalJSON(raw, back) {
		t.Fatalf("%s\nwas  %s\nback %s", d, raw, back)
	}
}

// exactly reads JSON with its numbers as they are written.
func exactly(raw []byte, value *any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(value)
}

func equalJSON(a, b []byte) bool {
	var x, y any
	return exactly(a, &x) == nil && exactly(b, &y) == nil && reflect.DeepEqual(x, y)
}

func seeds(t testing.TB, d Dialect) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", string(d), "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no documents", err)
	}
	docs := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.Base(path)] = raw
	}
	return docs
}

func TestSampleDocumentsComeBack(t *testing.T) {
	for _, d := range all {
		for _, raw := range seeds(t, d) {
			identity(t, d, raw)
		}
	}
}

func TestDocumentsComeBack(t *testing.T) {
	for _, d := range all {
		t.Run(string(d), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { identity(t, d, drawDocument(t, d)) })
		})
	}
}

func TestDeparturesComeBack(t *testing.T) {
	for _, d := range all {
		t.Run(string(d), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				out := drawDeparture(t, d)
				raw, err := Encode(d, out)
				if err != nil {
					t.Fatalf("%v", err)
				}
				a, err := Decode(d, raw)
				if err != nil {
					t.Fatalf("%v\n%s", err, raw)
				}
				if diff := cmp.Diff(whatCounts(d, out), whatCounts(d, again(a)), sameDepartures); diff != "" {
					t.Fatalf("(-was +is)\n%s\n%s", diff, raw)
				}
				identity(t, d, raw)
			})
		})
	}
}

var sameDepartures = cmp.Options{cmp.AllowUnexported(parley.Priority{}), cmpopts.EquateEmpty()}

// ordered is JSON with its keys in order.
func ordered(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err)
	}
	return marshal(value)
}

// whatCounts is what a document must be able to say of a departure.
func whatCounts(d Dialect, out parley.Departure) parley.Departure {
	m := out.Message
	own := parseObject(m.Metadata)
	own.remove(string(d))
	m.Metadata, m.Payload = nil, ordered(m.Payload)
	if len(own) > 0 {
		m.Metadata = ordered(marshal(own))
	}
	if m.Deadline == nil && out.Task != nil {
		m.Deadline = out.Task.Deadline
	}
	out.Message = parley.Message{
		From: m.From, To: m.To, Type: m.Type, Priority: m.Priority, CreatedAt: m.CreatedAt, ExpiresAt: m.ExpiresAt, Deadline: m.Deadline,
		RequiresAck: m.RequiresAck, TraceID: m.TraceID, Content: m.Content, Payload: m.Payload, Metadata: m.Metadata,
	}
	out.Recipient, out.Task, out.Wakes, out.Final, out.ByRun = "", nil, false, false, false
	if d != Routing {
		out.Sequence = 0
	}
	if d != ClawOS {
		out.FromTier, out.ToTier = "", ""
	}
	if d != AgentOS {
		out.Channel = ""
	}
	return out
}

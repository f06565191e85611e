package dialect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func TestDocumentsThatAreRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for name, c := range map[string]struct {
		dialect Dialect
		raw     string
		want    string
	}{
		"nothing":        {AgentOS, "", "the document is empty"},
		"no JSON":        {AgentOS, `{"id":`, "not JSON"},
		"a list":         {ClawOS, `[]`, "not a JSON object"},
		"two documents":  {ClawOS, `{}{}`, "not JSON"},
		"a key twice":    {Routing, `{"from":"a","from":"b"}`, `the key "from" twice`},
		"no UTF-8":       {Routing, "{\"from\":\"\xff\"}", "not valid UTF-8"},
		"too deep":       {Routing, deep, "levels deep"},
		"too large":      {Routing, `{"x":"` + strings.Repeat("x", RoutingLimit) + `"}`, "the limit is 10240"},
		"other major":    {Routing, `{"version":"2.0.0"}`, "version 2.0.0 of routing, but the hub supports 1.0.0"},
		"ClawOS's major": {ClawOS, `{"version":"0.9"}`, "version 0.9 of clawos, but the hub supports 1.0"},
	} {
		_, err := Decode(c.dialect, []byte(c.raw))
		if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllIssuesAreListed(t *testing.T) {
	_, err := Decode(Routing, []byte(`{"version":"1.0.0","msg_id":"msg_invalid","from":"a","to":"b","sequence":1,"type":"status_update","payload":{}}`))
	e := parley.AsError(err)
	if e == nil || e.Validation == nil {
		t.Fatalf("%v", err)
	}
	v := *e.Validation
	if v.Error != "VALIDATION_FAILED" || v.MsgID != "msg_invalid" || v.Action == "" || len(v.Issues) != 3 || !slices.Contains(v.Issues, "Missing required field: timestamp") {
		t.Errorf("%+v", v)
	}
	if !strings.Contains(e.Message, "and 2 more") {
		t.Error(e.Message)
	}
}

// TestMetadataThatMeansNothingHereIsTaken: S0 shows turn as a name and says nothing of it; scripts count in it.
func TestMetadataThatMeansNothingHereIsTaken(t *testing.T) {
	doc := parseObject(seeds(t, AgentOS)["msg-20260111-163315-claude-4c78.json"])
	doc.setInner("metadata", "turn", 7)
	doc.setInner("metadata", "cost", 0.5)
	a, err := Decode(AgentOS, marshal(doc))
	if err != nil || !strings.Contains(string(a.Draft.Metadata), `"turn":7`) {
		t.Errorf("%s, %v", a.Draft.Metadata, err)
	}
}

func TestVersionsOfTheSameMajorAreAccepted(t *testing.T) {
	for version, warnings := range map[string]int{"1.0.0": 0, "1.0.9": 0, "1.3.0": 1} {
		doc := parseObject(seeds(t, Routing)["msg_b4e2a7c1.json"])
		doc.set("version", version)
		a, err := Decode(Routing, marshal(doc))
		if err != nil || len(a.Warnings) != warnings {
			t.Errorf("%s: %q, %v", version, a.Warnings, err)
		}
	}
}

func TestFieldsOfADecodedDocument(t *testing.T) {
	a := arrived(t, AgentOS)
	if a.Channel != "agent-os-paper" || a.From != "claude" || a.To != "codex" || a.ReplyTo != "msg-20260111-163300-codex-a1b2" || a.Draft.Content.Text != "Your message text here" {
		t.Errorf("S0: %+v", a)
	}
	a = arrived(t, ClawOS)
	if a.To != parley.All || a.FromTier != parley.TierCommand || a.ToTier != parley.TierPM || a.ReplyTo != "original-msg-id" || a.Draft.TraceID != "trace-uuid-v4" {
		t.Errorf("S1: %+v", a)
	}
	if a.Draft.TTL != 3600 || !a.ExpiresAt.Equal(a.At.Add(time.Hour)) || a.At.Format(time.RFC3339) != "2026-02-25T18:50:00+08:00" {
		t.Errorf("S1's times: %+v", a)
	}
	asked, err := Decode(ClawOS, seeds(t, ClawOS)["request.json"])
	if err != nil || asked.Callback != "optional-callback-topic" || asked.Draft.Deadline.Format(time.RFC3339) != "2026-02-25T20:00:00+08:00" {
		t.Errorf("S1's request: %+v, %v", asked, err)
	}
	a = arrived(t, Routing)
	if a.Draft.Sequence != 8 || !a.Draft.RequiresAck || a.Draft.Priority.Level() != 8 || a.Draft.Deadline == nil || a.Draft.Content.Text != "Optimize tiered-router.ts for performance" {
		t.Errorf("S3: %+v", a)
	}
}

func TestAgentIDs(t *testing.T) {
	for _, c := range []struct {
		dialect  Dialect
		raw, id  string
		warnings bool
	}{
		{AgentOS, "claude-1", "claude", true},
		{AgentOS, "codex-1", "codex", true},
		{AgentOS, "gemini-1", "gemini", true},
		{AgentOS, "qc-1", "qc-1", false},
		{ClawOS, "claude-1", "claude-1", false},
		{Routing, "claude-1", "claude-1", false},
		{Routing, "coordinator-main", "coordinator-main", false},
		{Routing, "_x", "x_x-" + digest("_x", 8), true},
		{Routing, "system", "xsystem-" + digest("system", 8), true},
	} {
		id, warning := AgentID(c.dialect, c.raw)
		if id != c.id || (warning != "") != c.warnings {
			t.Errorf("%s of %s: %s, %q", c.raw, c.dialect, id, warning)
		}
	}
}

func TestRoutingIDsNeverCollide(t *testing.T) {
	reserved := []string{"system", "parley", "inbox", "tasks", "shared", "processed", "broadcast"}
	ids := rapid.OneOf(rapid.StringMatching(`[a-z0-9_-]{1,120}`), rapid.StringMatching(`[x_-]{1,3}[ab]?`), rapid.SampledFrom(reserved))
	rapid.Check(t, func(t *rapid.T) {
		raw := ids.Draw(t, "raw")
		id, _ := AgentID(Routing, raw)
		if raw != parley.All && parley.CheckKnownID(id) != nil { // an agent may have had its id before there were short names
			t.Fatalf("%s: %s is no id", raw, id)
		}
		if len(raw) <= maxIDLength-shortDigest-2 && NativeName(Routing, id) != raw {
			t.Fatalf("%s: %s comes back as %s", raw, id, NativeName(Routing, id))
		}
		other := rapid.OneOf(ids, rapid.Just(id)).Draw(t, "other")
		if again, _ := AgentID(Routing, other); other != raw && again == id {
			t.Fatalf("%s and %s are both %s", raw, other, id)
		}
	})
}

func TestPrioritiesDoNotDrift(t *testing.T) {
	for _, word := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "low", "normal", "high", "urgent", "critical"} {
		p, err := parley.ParsePriority(word)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			out := again(arrived(t, d))
			out.Message.Priority = p
			for range 3 { // from hub to hub
				a, err := Decode(d, written(t, d, out))
				if err != nil || a.Draft.Priority != p && word != "5" {
					t.Errorf("%s in %s: %v, %v", word, d, a.Draft.Priority, err)
				}
				out = again(a)
			}
		}
	}
	for word, want := range map[string]string{"0": "low", "3": "low", "4": "normal", "9": "high", "10": "critical", "urgent": "critical", "low": "low"} {
		p, _ := parley.ParsePriority(word)
		if got := clawOSPriority(p); got != want {
			t.Errorf("%s is %s in S1, want %s", word, got, want)
		}
	}
}

func FuzzDecodeAgentOS(f *testing.F) { fuzzDecode(f, AgentOS) }
func FuzzDecodeClawOS(f *testing.F)  { fuzzDecode(f, ClawOS) }
func FuzzDecodeRouting(f *testing.F) { fuzzDecode(f, Routing) }

// fuzzDecode: nothing panics, and what is understood comes back as it was.
func fuzzDecode(f *testing.F, d Dialect) {
	for _, raw := range seeds(f, d) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := Decode(d, raw)
		if err != nil {
			if parley.CodeOf(err) != parley.BadInput {
				t.Fatal(err)
			}
			return
		}
		identity(t, d, raw)
	})
}

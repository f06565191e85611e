package dialect

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// as is a document of a seed with one member set.
func as(t *testing.T, d Dialect, key, value string) []byte {
	t.Helper()
	docs := seeds(t, d)
	doc := parseObject(docs[slices.Min(slices.Collect(maps.Keys(docs)))])
	doc.set(key, json.RawMessage(value))
	return marshal(doc)
}

func TestAByteOrderMarkIsNoPartOfADocument(t *testing.T) {
	for _, d := range []Dialect{AgentOS, ClawOS, Routing} {
		plain := as(t, d, "added", "1")
		want, err := Decode(d, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(d, append([]byte("\ufeff"), plain...)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", d, got, err)
		}
	}
}

// Numbers that no float64 is are numbers still: what has them comes, and goes as it came.
func TestNumbersBeyondFloatsAreKept(t *testing.T) {
	for _, d := range []Dialect{AgentOS, ClawOS, Routing} {
		for _, n := range []string{"1e400", "-1e400", "12345678901234567890", "1e-400", "0.1000000000000000000000001"} {
			identity(t, d, as(t, d, "added", n))
		}
	}
	if a, err := Decode(Routing, as(t, Routing, "sequence", "1e400")); err != nil || a.Draft.Sequence < 1<<61 {
		t.Errorf("a sequence beyond reason is %d: %v", a.Draft.Sequence, err)
	}
	if _, err := Decode(Routing, as(t, Routing, "priority", "1e400")); err == nil {
		t.Error("a priority beyond reason is taken")
	}
}

func TestUnsupportedVersionsAreRefused(t *testing.T) {
	for _, version := range []string{"2.0.0", "02.0.0", "99999999999999999999.0.0", "18446744073709551617.0.0", "0.0.1"} {
		_, err := Decode(Routing, as(t, Routing, "version", `"`+version+`"`))
		if parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", version, err)
		}
	}
	for version, warned := range map[string]bool{"1.0.7": false, "1.1.0": true, "01.0.0": false, "1.99999999999999999999.0": true} {
		a, err := Decode(Routing, as(t, Routing, "version", `"`+version+`"`))
		if said := strings.Contains(strings.Join(a.Warnings, " "), "newer"); err != nil || said != warned {
			t.Errorf("%s: %q, %v", version, a.Warnings, err)
		}
	}
}

// S3's table of optional fields says of correlation_id that it is null where nothing is answered.
func TestACorrelationThatIsNull(t *testing.T) {
	raw := as(t, Routing, "correlation_id", "null")
	if a, err := Decode(Routing, raw); err != nil || a.ReplyTo != "" {
		t.Fatalf("%q: %v", a.ReplyTo, err)
	}
	identity(t, Routing, raw)
}

// Times that an offset, or a ttl, takes beyond the years that can be written.
func TestTimesAtTheEndsOfTime(t *testing.T) {
	for _, d := range []Dialect{AgentOS, ClawOS, Routing} {
		for _, at := range []string{"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"} {
			if _, err := Decode(d, as(t, d, "timestamp", `"`+at+`"`)); parley.CodeOf(err) != parley.BadInput {
				t.Errorf("%s, %s: %v", d, at, err)
			}
		}
		for _, at := range []string{"0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"} {
			doc := parseObject(as(t, d, "timestamp", `"`+at+`"`))
			if d == ClawOS {
				doc.set("ttl", 3600)
			}
			identity(t, d, marshal(doc))
			name := doc.text(grammars[d].name)
			doc.setInner("metadata", parleyKey, object{{forKey, marshal(name)}, {"deadline", marshal("9999-12-31T23:59:59-01:00")}})
			identity(t, d, marshal(doc))
		}
	}
}

// Package dialect converts documents of the supported formats to canonical messages and back. Its functions are pure. It has the
// dialects of the Multi-Agent OS, ClawOS and Routing Protocol formats.
//
// Decode reads a document into contents, which have canonical fields. Encode starts from the original if the message came as a
// document of the same dialect, and changes only the members that differ. Then it reads the result again, and adds under
// metadata.parley the fields that the document does not express. So no field is lost in either direction.
package dialect

import (
	"bytes"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// Dialect is a format of messages.
type Dialect string

// The dialects.
const (
	AgentOS Dialect = "agentos" // the Multi-Agent OS format
	ClawOS  Dialect = "clawos"  // the ClawOS format
	Routing Dialect = "routing" // the Routing Protocol
)

// Of returns the dialect of a layout, or "" for an unknown layout.
func Of(l parley.Layout) Dialect {
	return map[parley.Layout]Dialect{parley.LayoutAgentOS: AgentOS, parley.LayoutBlackboard: ClawOS, parley.LayoutInbox: Routing}[l]
}

// RoutingLimit is the size limit of a document in the Routing Protocol, in bytes.
const RoutingLimit = 10 << 10

// documentLimits returns limits that leave room for the original in the metadata of a message.
func documentLimits(d Dialect) parley.Limits {
	limits := parley.DefaultLimits()
	limits.Body -= 1 << 10
	limits.Depth--
	if d == Routing {
		limits.Body = RoutingLimit
	}
	return limits
}

// grammar has the functions that read and write a dialect.
type grammar struct {
	name string // the member with the id of a document
	// read reads a document that is valid by its schema.
	read func(doc object) contents
	// change changes the members of a document whose values in was and want differ. An empty document gets all members that
	// the format requires, in the order of the format.
	change func(doc *object, was, want contents, out parley.Departure)
}

var grammars = map[Dialect]grammar{
	AgentOS: {"id", readAgentOS, changeAgentOS},
	ClawOS:  {"id", readClawOS, changeClawOS},
	Routing: {"msg_id", readRouting, changeRouting},
}

// Decode reads a document. The metadata of the draft keeps the exact original under the name of the dialect. E003, with all
// issues, if the document is invalid or has another major version.
func Decode(d Dialect, raw []byte) (parley.Arrival, error) {
	compact, v, err := decodeContents(d, raw)
	if err != nil {
		return parley.Arrival{}, err
	}
	return v.toArrival(d, compact), nil
}

// TrimByteOrderMark removes the byte order mark with which some programs begin a file.
func TrimByteOrderMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }

func decodeContents(d Dialect, raw []byte) (compact []byte, v contents, err error) {
	compact, err = parley.CompactObject("the document", TrimByteOrderMark(raw), documentLimits(d))
	switch {
	case err != nil:
		return nil, v, err
	case len(compact) == 0:
		return nil, v, parley.Errorf(parley.BadInput, "the document is empty").Suggest("write it to a temporary name first, then rename it")
	}
	g, doc := grammars[d], parseObject(compact)
	warning, err := checkVersion(d, doc.text("version"))
	if err != nil {
		return nil, v, err
	}
	if issues := schema.CheckDocument(string(d), compact); len(issues) > 0 {
		return nil, v, parley.Invalid("the document is not a valid message of "+string(d), doc.text(g.name), issues)
	}
	v = g.read(doc)
	v.readParleyMetadata(doc.object("metadata"))
	if warning != "" {
		v.warnings = append(v.warnings, warning)
	}
	return compact, v, nil
}

// Encode writes a departure as a document. It writes names that are not ids of the hub as they are. E003 for a heartbeat in a
// dialect that has no heartbeats.
func Encode(d Dialect, out parley.Departure) ([]byte, error) {
	if err := checkHasForm(d, out.Message); err != nil {
		return nil, err
	}
	want := contentsOf(out)
	doc := write(d, want, out)
	addParleyMetadata(d, &doc, want, out.Message.Task)
	return marshal(doc), nil
}

// checkHasForm returns an error if a dialect cannot express a message. A message that was a document of the dialect can be
// one again.
func checkHasForm(d Dialect, m parley.Message) error {
	if m.Type == parley.TypeHeartbeat && d != Routing && !parseObject(m.Metadata).has(string(d)) {
		return parley.Errorf(parley.BadInput, "the format %s has no heartbeats", d).Suggest("report presence as that format does")
	}
	return nil
}

// write writes the fields that the dialect has. It starts from the original document if there is one.
func write(d Dialect, want contents, out parley.Departure) object {
	doc, was := object{}, contents{}
	original := parseObject(out.Message.Metadata).raw(string(d))
	if _, v, err := decodeContents(d, original); err == nil {
		doc, was = parseObject(original), v
		want.at = documentTime(was, want)
	}
	grammars[d].change(&doc, was, want, out)
	return doc
}

// maxClockSkew is how far the clock of a document's author may be ahead of the hub's clock.
const maxClockSkew = 5 * time.Minute

// documentTime returns the time of a document. A document that keeps its id keeps the time of its author, with the offset,
// unless that is too far ahead.
func documentTime(was, want contents) time.Time {
	if was.name == want.name && !was.at.After(want.at.Add(maxClockSkew)) {
		return was.at
	}
	return want.at
}

// addParleyMetadata adds what the document cannot express itself under metadata.parley.
func addParleyMetadata(d Dialect, doc *object, want contents, task string) {
	written := grammars[d].read(*doc)
	written.readParleyMetadata(doc.object("metadata"))
	if len(want.differingFrom(written.canonicalFields)) == 0 {
		return
	}
	doc.removeInner("metadata", parleyKey)
	fields := append(object{{forKey, marshal(want.name)}}, want.differingFrom(grammars[d].read(*doc).canonicalFields)...)
	if task != "" {
		fields.set("task", task)
	}
	doc.setInner("metadata", parleyKey, fields)
}

// metadataText returns a text in the metadata of a document, or "" if there is none.
func metadataText(doc object, key string) string { return doc.object("metadata").text(key) }

// readTrace reads a trace id from the metadata. It returns a warning if the id is invalid.
func readTrace(doc object) (id, warning string) {
	id = metadataText(doc, "trace_id")
	if parley.CheckTrace(id) != nil {
		return "", "metadata.trace_id is not a trace id; the hub ignores it"
	}
	return id, ""
}

// setTrace writes the trace id into the metadata, if it differs.
func setTrace(doc *object, was, want contents) {
	if want.TraceID != was.TraceID && want.TraceID != "" {
		doc.setInner("metadata", "trace_id", want.TraceID)
	}
}

// number returns a member that is a whole number of at least 0. The hub refuses numbers that are too large.
func number(doc object, key string) int64 {
	n, _ := strconv.ParseFloat(string(doc.raw(key)), 64) // the schema has checked the form; a number that is too large is infinite
	return int64(min(n, 1<<62))
}

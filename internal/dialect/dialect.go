// Package dialect makes messages of the formats that Parley unites canonical, and back. Its functions are pure.
//
// A document is read into a view: what it says in canonical words. Writing starts from the original where the message came as
// a document of the same dialect, and changes only what the departure says differently; then the result is read again, and
// what it does not say by itself is added under metadata.parley. So nothing is lost on either way.
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
	AgentOS Dialect = "agentos" // S0
	ClawOS  Dialect = "clawos"  // S1
	Routing Dialect = "routing" // S3
)

// Of returns the dialect of a layout.
func Of(l parley.Layout) Dialect {
	return map[parley.Layout]Dialect{parley.LayoutAgentOS: AgentOS, parley.LayoutBlackboard: ClawOS, parley.LayoutInbox: Routing}[l]
}

// RoutingLimit is the size that a document of S3 may have, in bytes.
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

// grammar is how a dialect is read and written.
type grammar struct {
	name string // the member that is a document's id
	// read reads a document that its schema has found valid.
	read func(doc object) contents
	// change writes what a document is to say differently. One that says nothing yet gets the members of the seed, in their
	// order.
	change func(doc *object, was, want contents, out parley.Departure)
}

var grammars = map[Dialect]grammar{
	AgentOS: {"id", readAgentOS, changeAgentOS},
	ClawOS:  {"id", readClawOS, changeClawOS},
	Routing: {"msg_id", readRouting, changeRouting},
}

// Decode reads a document. The draft's metadata keeps the exact original under the name of the dialect. E003, with all
// issues, for an invalid document or one of another major version.
func Decode(d Dialect, raw []byte) (parley.Arrival, error) {
	compact, v, err := decode(d, raw)
	if err != nil {
		return parley.Arrival{}, err
	}
	return v.toArrival(d, compact), nil
}

// TrimByteOrderMark is JSON without the byte order mark that some programs begin a file with.
func TrimByteOrderMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }

func decode(d Dialect, raw []byte) (compact []byte, v contents, err error) {
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
		return nil, v, parley.Invalid("the document is no valid message of "+string(d), doc.text(g.name), issues)
	}
	v = g.read(doc)
	v.readParleyMetadata(doc.object("metadata"))
	if warning != "" {
		v.warnings = append(v.warnings, warning)
	}
	return compact, v, nil
}

// Encode writes a departure as a document. Names that are not ids here are written as they are. E003 for a heartbeat in a
// dialect that has none.
func Encode(d Dialect, out parley.Departure) ([]byte, error) {
	if err := checkHasForm(d, out.Message); err != nil {
		return nil, err
	}
	want := viewOf(out)
	doc := write(d, want, out)
	addParleyMetadata(d, &doc, want, out.Message.Task)
	return encode(doc), nil
}

// checkHasForm returns an error if a dialect cannot express a message. A message that was a document of the dialect can be
// one again.
func checkHasForm(d Dialect, m parley.Message) error {
	if m.Type == parley.TypeHeartbeat && d != Routing && !parseObject(m.Metadata).has(string(d)) {
		return parley.Errorf(parley.BadInput, "%s has no message for a heartbeat", d).Suggest("presence is told in other ways there")
	}
	return nil
}

// write writes what the dialect has fields for.
func write(d Dialect, want contents, out parley.Departure) object {
	doc, was := object{}, contents{}
	original := parseObject(out.Message.Metadata).raw(string(d))
	if _, v, err := decode(d, original); err == nil {
		doc, was = parseObject(original), v
		want.at = documentTime(was, want)
	}
	grammars[d].change(&doc, was, want, out)
	return doc
}

// maxClockSkew is how far the clock of whoever wrote a document may be ahead of the hub's.
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
	is := grammars[d].read(*doc)
	is.readParleyMetadata(doc.object("metadata"))
	if len(want.differingFrom(is.canonicalFields)) == 0 {
		return
	}
	doc.removeInner("metadata", parleyKey)
	words := append(object{{forKey, encode(want.name)}}, want.differingFrom(grammars[d].read(*doc).canonicalFields)...)
	if task != "" {
		words.set("task", task)
	}
	doc.setInner("metadata", parleyKey, words)
}

// metadataText is a word in the metadata of a document that may have none.
func metadataText(doc object, key string) string { return doc.object("metadata").text(key) }

// readTrace reads a trace id from the metadata.
func readTrace(doc object) (id, warning string) {
	id = metadataText(doc, "trace_id")
	if parley.CheckTrace(id) != nil {
		return "", "metadata.trace_id is no id of a trace and is left aside"
	}
	return id, ""
}

// setTrace writes it.
func setTrace(doc *object, was, want contents) {
	if want.TraceID != was.TraceID && want.TraceID != "" {
		doc.setInner("metadata", "trace_id", want.TraceID)
	}
}

// number returns a member that is a whole number of at least 0. The hub refuses numbers that are too large.
func number(doc object, key string) int64 {
	n, _ := strconv.ParseFloat(string(doc.raw(key)), 64) // its form is checked; one that is too large is infinite
	return int64(min(n, 1<<62))
}

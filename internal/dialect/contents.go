package dialect

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// contents has the fields of a document in canonical form.
type contents struct {
	name, from, channel, replyTo string
	fromTier, toTier             parley.Tier
	at                           time.Time
	sequence                     int64
	callback                     string
	canonicalFields
	warnings []string
}

// canonicalFields are the fields that every dialect must carry. Encode writes a field that a dialect does not have under
// metadata.parley, by the name here.
type canonicalFields struct {
	To          string            `json:"to"`
	Type        parley.Type       `json:"type"`
	Priority    parley.Priority   `json:"priority"`
	ExpiresAt   *time.Time        `json:"expires_at"`
	Deadline    *time.Time        `json:"deadline"`
	RequiresAck bool              `json:"requires_ack"`
	TraceID     string            `json:"trace_id"`
	Text        string            `json:"text"`
	Code        string            `json:"code"`
	Artifacts   []parley.Artifact `json:"artifacts"`
	Payload     json.RawMessage   `json:"payload"`
	Metadata    json.RawMessage   `json:"metadata"` // without the original documents
}

// members returns the fields as JSON. It writes times in UTC and in milliseconds, so that equal times have equal texts.
func (s canonicalFields) members() object {
	s.ExpiresAt, s.Deadline = truncatedUTC(s.ExpiresAt), truncatedUTC(s.Deadline)
	if len(s.Artifacts) == 0 {
		s.Artifacts = nil
	}
	return parseObject(marshal(s))
}

func truncatedUTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	truncated := at.UTC().Truncate(time.Millisecond)
	return &truncated
}

// differingFrom returns the members that differ from those of a document.
func (s canonicalFields) differingFrom(document canonicalFields) (rest object) {
	documentMembers := document.members()
	for _, m := range s.members() {
		if !bytes.Equal(m.value, documentMembers.raw(m.key)) {
			rest = append(rest, m)
		}
	}
	return rest
}

// parleyKey is the member of a document's metadata that has the fields of Parley.
const parleyKey = "parley"

// forKey is the field with the id of the document that the fields were written for. A script may copy the metadata of the
// document that it answers; then the fields do not apply to the answer.
const forKey = "of"

// readParleyMetadata applies the fields under metadata.parley.
func (v *contents) readParleyMetadata(metadata object) {
	fields := metadata.object(parleyKey)
	if fields.text(forKey) != v.name {
		return
	}
	parsed := v.clone()
	if json.Unmarshal(marshal(fields), &parsed) != nil || !parsed.writable() || parley.CheckType(parsed.Type) != nil || parley.CheckTrace(parsed.TraceID) != nil {
		v.warnings = append(v.warnings, "metadata.parley is not valid; the hub ignores it")
		return
	}
	parsed.Payload, parsed.Metadata = objectOrNil(parsed.Payload), objectOrNil(parsed.Metadata)
	v.canonicalFields = parsed
}

// writable reports whether all times can be written.
func (s canonicalFields) writable() bool {
	return (s.ExpiresAt == nil || schema.IsWritable(*s.ExpiresAt)) && (s.Deadline == nil || schema.IsWritable(*s.Deadline))
}

// clone returns a copy that shares no memory. Decoding JSON into a plain copy would change the original.
func (s canonicalFields) clone() canonicalFields {
	if s.ExpiresAt != nil {
		s.ExpiresAt = new(*s.ExpiresAt)
	}
	if s.Deadline != nil {
		s.Deadline = new(*s.Deadline)
	}
	s.Artifacts, s.Payload, s.Metadata = slices.Clone(s.Artifacts), slices.Clone(s.Payload), slices.Clone(s.Metadata)
	return s
}

// objectOrNil returns nil for null and for anything but an object.
func objectOrNil(raw json.RawMessage) json.RawMessage {
	if parseObject(raw) == nil {
		return nil
	}
	return raw
}

// toArrival returns the arrival for the hub.
func (v contents) toArrival(d Dialect, original []byte) parley.Arrival {
	a := parley.Arrival{
		Name: v.name, From: v.from, FromTier: v.fromTier, To: v.To, ToTier: v.toTier, Channel: v.channel, At: v.at, ReplyTo: v.replyTo,
		Callback: v.callback, Warnings: v.warnings,
		Draft: parley.Draft{
			Type: v.Type, Priority: v.Priority, Deadline: v.Deadline, RequiresAck: v.RequiresAck, TraceID: v.TraceID,
			Content: parley.Content{Text: v.Text, Code: v.Code, Artifacts: v.Artifacts},
			Payload: v.Payload, Metadata: withOriginal(d, v.Metadata, original), Sequence: v.sequence,
		},
	}
	if v.ExpiresAt != nil {
		a.ExpiresAt, a.Draft.TTL = *v.ExpiresAt, seconds(v.ExpiresAt.Sub(v.at))
	}
	return a
}

// seconds returns a duration in seconds, rounded up so that nothing expires too soon. It first rounds to milliseconds, because
// the hub keeps times in milliseconds.
func seconds(length time.Duration) int64 {
	return int64(math.Ceil(length.Round(time.Millisecond).Seconds()))
}

// withOriginal adds the original document to the metadata. If both are too large together, it keeps only the original, which
// contains the metadata.
func withOriginal(d Dialect, metadata json.RawMessage, original []byte) json.RawMessage {
	kept := parseObject(metadata)
	kept.set(string(d), json.RawMessage(original))
	if whole := marshal(kept); len(whole) <= parley.DefaultLimits().Body {
		return whole
	}
	return marshal(object{{string(d), original}})
}

// contentsOf returns the contents that the document of a departure must have.
func contentsOf(out parley.Departure) contents {
	m := out.Message
	v := contents{
		name: out.Name, from: m.From, channel: out.Channel, replyTo: out.ReplyTo, fromTier: out.FromTier, toTier: out.ToTier,
		at: m.CreatedAt, sequence: max(out.Sequence, 1),
		canonicalFields: canonicalFields{
			To: m.To, Type: m.Type, Priority: m.Priority, ExpiresAt: m.ExpiresAt, Deadline: m.Deadline, RequiresAck: m.RequiresAck,
			TraceID: m.TraceID, Text: m.Content.Text, Code: m.Content.Code, Artifacts: m.Content.Artifacts, Payload: m.Payload,
		},
	}
	if t := out.Task; t != nil && t.Message == m.ID && v.Deadline == nil {
		v.Deadline = t.Deadline // the message that asks for a task leaves its deadline to the task
	}
	if out.Recipient != "" && m.To != parley.All {
		v.To = out.Recipient
	}
	own := parseObject(m.Metadata)
	for _, d := range []Dialect{AgentOS, ClawOS, Routing} {
		own.remove(string(d))
	}
	if len(own) > 0 {
		v.Metadata = marshal(own)
	}
	return v
}

package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// timeLayout is the layout of times in documents.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func readAgentOS(doc object) contents {
	v := contents{name: doc.text("id"), channel: doc.text("session_id"), replyTo: metadataText(doc, "in_reply_to")}
	v.at, _ = schema.ParseTime(doc.text("timestamp")) // the schema has checked the form
	content := doc.object("content")
	v.Text, v.Code = content.text("text"), content.text("code")
	v.Type = canonicalAgentOSType(parley.Type(doc.text("type")))
	var dropped int
	v.Artifacts, dropped = readArtifacts(content.raw("artifacts"))
	v.readNames(AgentOS, doc.text("from"), doc.text("to"))
	var warning string
	v.TraceID, warning = readTrace(doc)
	v.warn(warning)
	if dropped > 0 {
		v.warn(fmt.Sprintf("%d artifacts name no file; the hub ignores them", dropped))
	}
	return v
}

// canonicalAgentOSType returns the canonical type of a type in the Multi-Agent OS format. Other types, such as incident, stay as
// they are: they wake the recipient and end no task.
func canonicalAgentOSType(t parley.Type) parley.Type {
	switch t {
	case taskAssign:
		return parley.TypeTask
	case taskResult:
		return parley.TypeResult
	default:
		return t
	}
}

// agentOSType returns the type of a departure in the Multi-Agent OS format.
func agentOSType(out parley.Departure) parley.Type {
	t := out.Message.Type
	switch kindOf(out) {
	case kindTask:
		if t == parley.TypeTask || t == taskDelegation || t == parley.TypeRequest && out.Task != nil {
			return taskAssign
		}
	case kindAnswer:
		if out.Task != nil || t == taskResult {
			return taskResult
		}
	case kindFailure:
		return incident
	case kindNotice, kindWarning, kindCommand, kindHeartbeat:
	}
	if slices.Contains(canonicalTypes, t) {
		return parley.TypeChat
	}
	return t
}

// canonicalTypes are the types of the hub that the Multi-Agent OS format does not have. Types of the format and of its users are
// written as they are.
var canonicalTypes = []parley.Type{
	parley.TypeRequest, parley.TypeResponse, parley.TypeNotification, parley.TypeError, parley.TypeCommand, parley.TypeStatus,
	parley.TypeHeartbeat, parley.TypeTask, parley.TypeResult, taskDelegation, statusUpdate,
}

func changeAgentOS(doc *object, was, want contents, out parley.Departure) {
	isNew := len(*doc) == 0
	doc.setIf(was.name != want.name, "id", want.name)
	doc.setIf(!equalTimes(was.at, want.at), "timestamp", formatTime(want.at))
	doc.setIf(isNew || want.channel != "" && was.channel != want.channel, "session_id", want.channel)
	doc.setIf(was.from != want.from, "from", NativeName(AgentOS, want.from))
	doc.setIf(isNew || was.To != want.To, "to", address(AgentOS, want.To))
	doc.setIf(was.Type != want.Type, "type", agentOSType(out))
	if isNew {
		doc.set("content", object{{"text", marshal("")}, {"code", marshal(nil)}, {"artifacts", marshal([]string{})}})
		doc.set("metadata", object{{"mode", marshal(mode(out))}})
	}
	doc.setInnerIf(was.Text != want.Text, "content", "text", want.Text)
	if was.Code != want.Code {
		doc.setInner("content", "code", orNull(want.Code))
	}
	if !slices.Equal(was.Artifacts, want.Artifacts) {
		doc.setInner("content", "artifacts", writeArtifacts(want.Artifacts))
	}
	doc.setInnerIf(was.from != want.from, "metadata", "turn", NativeName(AgentOS, want.from))
	doc.setInnerIf(want.replyTo != "" && was.replyTo != want.replyTo, "metadata", "in_reply_to", want.replyTo)
	setTrace(doc, was, want)
}

func mode(out parley.Departure) string {
	if out.ByRun {
		return "watcher"
	}
	return "chat"
}

func formatTime(at time.Time) string { return at.UTC().Format(timeLayout) }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// readArtifacts reads references to files: a path, or an object with a path or with the digest of a stored body. dropped counts
// the entries that are neither.
func readArtifacts(raw json.RawMessage) (list []parley.Artifact, dropped int) {
	var entries []json.RawMessage
	_ = json.Unmarshal(raw, &entries) // null is an empty list
	for _, entry := range entries {
		var a parley.Artifact
		if json.Unmarshal(entry, &a.Path) != nil {
			a = parley.Artifact{}
			_ = json.Unmarshal(entry, &a)
		}
		if (a.Path == "") == (a.SHA256 == "") {
			dropped++
			continue
		}
		list = append(list, a)
	}
	return list, dropped
}

func writeArtifacts(list []parley.Artifact) []any {
	entries := []any{}
	for _, a := range list {
		if a == (parley.Artifact{Path: a.Path}) {
			entries = append(entries, a.Path)
		} else {
			entries = append(entries, a)
		}
	}
	return entries
}

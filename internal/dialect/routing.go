package dialect

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

func readRouting(doc object) contents {
	v := contents{name: doc.text("msg_id"), replyTo: doc.text("correlation_id"), sequence: number(doc, "sequence")}
	v.at, _ = schema.ParseTime(doc.text("timestamp")) // the schema has checked the form
	v.Type = canonicalRoutingType(doc.text("type"))
	v.Payload = doc.raw("payload")
	payload := doc.object("payload")
	v.Text = payload.text(routingTextField(doc.text("type")))
	if v.Type == parley.TypeTask {
		v.Deadline = optionalTime(payload.object("context").text("deadline"))
	}
	v.RequiresAck = string(doc.raw("requires_ack")) == "true"
	if doc.has("priority") {
		v.Priority, _ = parley.PriorityOf(int(number(doc, "priority"))) // the schema has checked the bounds
	}
	v.readNames(Routing, doc.text("from"), doc.text("to"))
	var warning string
	v.TraceID, warning = readTrace(doc)
	v.warn(warning)
	return v
}

func canonicalRoutingType(word string) parley.Type {
	switch t := parley.Type(word); t {
	case taskDelegation:
		return parley.TypeTask
	case statusUpdate:
		return parley.TypeStatus
	default:
		return t
	}
}

// routingTextField returns the member of a payload that has the text of a message.
func routingTextField(word string) string {
	if word == string(taskDelegation) {
		return "task"
	}
	return "message"
}

func changeRouting(doc *object, was, want contents, out parley.Departure) {
	if len(*doc) == 0 {
		doc.set("version", supportedVersion(Routing))
	}
	doc.setIf(was.name != want.name, "msg_id", want.name)
	doc.setIf(was.from != want.from, "from", NativeName(Routing, want.from))
	doc.setIf(was.To != want.To || was.To == "", "to", address(Routing, want.To))
	doc.setIf(!equalTimes(was.at, want.at), "timestamp", formatTime(want.at))
	doc.setIf(was.sequence != want.sequence, "sequence", want.sequence)
	if bodyDiffers(was, want) {
		word, payload := routingBody(want, out)
		doc.set("type", word)
		doc.set("payload", payload)
	}
	doc.setIf(was.RequiresAck != want.RequiresAck, "requires_ack", want.RequiresAck)
	doc.setIf(want.replyTo != "" && was.replyTo != want.replyTo, "correlation_id", want.replyTo)
	doc.setIf(!equalPriorities(was.Priority, want.Priority), "priority", want.Priority.Level())
	setTrace(doc, was, want)
}

// routingBody returns the type and the payload of a departure. It keeps a payload that has the Routing Protocol form.
func routingBody(want contents, out parley.Departure) (word string, payload object) {
	form := map[kind]struct {
		word string
		make func(want contents, out parley.Departure) object
	}{
		kindTask: {string(taskDelegation), newDelegation}, kindNotice: {string(statusUpdate), newStatus}, kindWarning: {string(statusUpdate), newBlocked},
		kindAnswer: {"result", newResult}, kindFailure: {"result", newFailure}, kindCommand: {"command", newCommand}, kindHeartbeat: {"heartbeat", newHeartbeat},
	}[kindOf(out)]
	if schema.Fits(string(Routing), form.word, want.Payload) {
		payload = parseObject(want.Payload)
	} else {
		payload = form.make(want, out)
	}
	if field := routingTextField(form.word); want.Text != "" && payload.text(field) != want.Text {
		payload.set(field, want.Text)
	}
	if form.word == string(taskDelegation) && want.Deadline != nil {
		if at := optionalTime(payload.object("context").text("deadline")); !equalOptionalTimes(at, want.Deadline) {
			payload.setInner("context", "deadline", want.deadlineText())
		}
	}
	return form.word, payload
}

// newDelegation returns the payload of a task request.
func newDelegation(want contents, out parley.Departure) object {
	payload := object{}
	payload.set("task", want.Text)
	for _, a := range want.Artifacts {
		if a.Path != "" {
			payload.setInner("context", "files", append(payload.object("context").list("files"), a.Path))
		}
	}
	if t := out.Task; t != nil {
		payload.setInner("metadata", "original_requester", NativeName(Routing, t.OriginalRequester))
		if t.DelegationReason != "" {
			payload.setInner("metadata", "delegation_reason", t.DelegationReason)
		}
	}
	return payload
}

// newStatus returns the payload of a status-update. A ClawOS event becomes a state, and its percentage or count a fraction.
func newStatus(want contents, _ parley.Departure) object {
	source := parseObject(want.Payload)
	state, known := stateOf[source.text("event")]
	if !known {
		state = "in_progress"
	}
	status := object{{"status", marshal(state)}}
	if part := progressFraction(source.object("progress")); part != nil {
		status.set("progress", *part)
	}
	if state == "blocked" {
		status.set("blockers", []string{want.Text})
	}
	return status
}

// progressFraction returns the progress by a ClawOS percentage or count, or nil.
func progressFraction(progress object) *float64 {
	if percent := progress.fraction("percent"); percent != nil {
		part := roundToHundredth(*percent) / 100
		return &part
	}
	current, total := progress.count("current"), progress.count("total")
	if current == nil || total == nil || *total == 0 || *current > *total {
		return nil
	}
	part := float64(*current) / float64(*total)
	return &part
}

func newBlocked(want contents, _ parley.Departure) object {
	return object{{"status", marshal("blocked")}, {"message", marshal(want.Text)}, {"blockers", marshal([]string{want.Text})}}
}

// newResult returns the payload of an answer. For a task it contains the result.
func newResult(_ contents, out parley.Departure) object {
	payload := object{{"status", marshal(outcome(out.Task))}}
	if out.Task == nil || out.Task.Result == nil {
		return payload
	}
	r := out.Task.Result
	payload.set("deliverables", object{
		{"files_modified", marshal([]string{})}, {"tests_added", marshal([]string{})}, {"artifacts", marshal(orEmpty(r.Deliverables))},
	})
	if len(r.Metrics) > 0 {
		payload.set("metrics", r.Metrics)
	}
	payload.set("issues", orEmpty(r.Issues))
	payload.set("next_steps", orEmpty(r.NextSteps))
	return payload
}

// newFailure returns the payload of an error. For a refused document it lists all issues.
func newFailure(want contents, _ parley.Departure) object {
	issues := parseObject(want.Payload).object("error").object("validation").list("issues")
	if len(issues) == 0 {
		issues = []string{want.Text}
	}
	return object{{"status", marshal("failure")}, {"issues", marshal(issues)}}
}

// newCommand returns the payload of a command whose message has no valid payload: a health check, which changes nothing.
func newCommand(_ contents, _ parley.Departure) object {
	return object{{"action", marshal(parley.ActionHealthCheck)}}
}

func newHeartbeat(_ contents, _ parley.Departure) object {
	return object{{"health", marshal(parley.Healthy)}}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// list returns a member that is a list of strings, or nil.
func (o object) list(key string) (list []string) {
	_ = json.Unmarshal(o.raw(key), &list) // any other value leaves nil
	return list
}

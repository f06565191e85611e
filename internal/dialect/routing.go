package dialect

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

func readRouting(doc object) view {
	v := view{name: doc.text("msg_id"), replyTo: doc.text("correlation_id"), sequence: number(doc, "sequence")}
	v.at, _ = schema.Moment(doc.text("timestamp")) // its form is checked
	v.Type = typeOfRouting(doc.text("type"))
	v.Payload = doc.raw("payload")
	payload := doc.object("payload")
	v.Text = payload.text(textOfRouting(doc.text("type")))
	if v.Type == parley.TypeTask {
		v.Deadline = moment(payload.object("context").text("deadline"))
	}
	v.RequiresAck = string(doc.raw("requires_ack")) == "true"
	if doc.has("priority") {
		v.Priority, _ = parley.PriorityOf(int(number(doc, "priority"))) // its bounds are checked
	}
	v.readNames(Routing, doc.text("from"), doc.text("to"))
	var warning string
	v.TraceID, warning = traced(doc)
	v.warn(warning)
	return v
}

func typeOfRouting(word string) parley.Type {
	switch t := parley.Type(word); t {
	case taskDelegation:
		return parley.TypeTask
	case statusUpdate:
		return parley.TypeStatus
	default:
		return t
	}
}

// textOfRouting is the member of a payload that is the text of a message.
func textOfRouting(word string) string {
	if word == string(taskDelegation) {
		return "task"
	}
	return "message"
}

func changeRouting(doc *object, was, want view, out parley.Departure) {
	if len(*doc) == 0 {
		doc.set("version", spoken(Routing))
	}
	doc.setIf(was.name != want.name, "msg_id", want.name)
	doc.setIf(was.from != want.from, "from", Native(Routing, want.from))
	doc.setIf(was.To != want.To || was.To == "", "to", address(Routing, want.To))
	doc.setIf(!sameMoment(was.at, want.at), "timestamp", stamp(want.at))
	doc.setIf(was.sequence != want.sequence, "sequence", want.sequence)
	if bodyDiffers(was, want) {
		word, payload := bodyOfRouting(want, out)
		doc.set("type", word)
		doc.set("payload", payload)
	}
	doc.setIf(was.RequiresAck != want.RequiresAck, "requires_ack", want.RequiresAck)
	doc.setIf(want.replyTo != "" && was.replyTo != want.replyTo, "correlation_id", want.replyTo)
	doc.setIf(!samePriority(was.Priority, want.Priority), "priority", want.Priority.Level())
	setTrace(doc, was, want)
}

// bodyOfRouting is the type and the payload of a departure. A payload that has the form of S3's is taken over.
func bodyOfRouting(want view, out parley.Departure) (word string, payload object) {
	makes := map[kind]struct {
		word string
		make func(want view, out parley.Departure) object
	}{
		asks: {string(taskDelegation), newDelegation}, tells: {string(statusUpdate), newStatus}, warns: {string(statusUpdate), newBlocked},
		answers: {"result", newResult}, fails: {"result", newFailure}, commands: {"command", newCommand}, beats: {"heartbeat", newHeartbeat},
	}[kindOf(out)]
	if schema.Fits(string(Routing), makes.word, want.Payload) {
		payload = parseObject(want.Payload)
	} else {
		payload = makes.make(want, out)
	}
	if field := textOfRouting(makes.word); want.Text != "" && payload.text(field) != want.Text {
		payload.set(field, want.Text)
	}
	if makes.word == string(taskDelegation) && want.Deadline != nil {
		if at := moment(payload.object("context").text("deadline")); !sameTime(at, want.Deadline) {
			payload.put("context", "deadline", want.due())
		}
	}
	return makes.word, payload
}

// newDelegation asks for a task.
func newDelegation(want view, out parley.Departure) object {
	payload := object{}
	payload.set("task", want.Text)
	for _, a := range want.Artifacts {
		if a.Path != "" {
			payload.put("context", "files", append(payload.object("context").list("files"), a.Path))
		}
	}
	if t := out.Task; t != nil {
		payload.put("metadata", "original_requester", Native(Routing, t.OriginalRequester))
		if t.DelegationReason != "" {
			payload.put("metadata", "delegation_reason", t.DelegationReason)
		}
	}
	return payload
}

// newStatus tells something. What S1 calls an event is a state here, and its percentage or count a fraction.
func newStatus(want view, _ parley.Departure) object {
	said := parseObject(want.Payload)
	state, known := stateOf[said.text("event")]
	if !known {
		state = "in_progress"
	}
	status := object{{"status", encode(state)}}
	if part := partOf(said.object("progress")); part != nil {
		status.set("progress", *part)
	}
	if state == "blocked" {
		status.set("blockers", []string{want.Text})
	}
	return status
}

// partOf is how much of something is done, by S1's percentage or else by its count, or nil.
func partOf(progress object) *float64 {
	if percent := progress.fraction("percent"); percent != nil {
		part := hundredths(*percent) / 100
		return &part
	}
	current, total := progress.count("current"), progress.count("total")
	if current == nil || total == nil || *total == 0 || *current > *total {
		return nil
	}
	part := float64(*current) / float64(*total)
	return &part
}

func newBlocked(want view, _ parley.Departure) object {
	return object{{"status", encode("blocked")}, {"message", encode(want.Text)}, {"blockers", encode([]string{want.Text})}}
}

// newResult is an answer. Of a task it has what came of it.
func newResult(_ view, out parley.Departure) object {
	payload := object{{"status", encode(outcome(out.Task))}}
	if out.Task == nil || out.Task.Result == nil {
		return payload
	}
	r := out.Task.Result
	payload.set("deliverables", object{
		{"files_modified", encode([]string{})}, {"tests_added", encode([]string{})}, {"artifacts", encode(orEmpty(r.Deliverables))},
	})
	if len(r.Metrics) > 0 {
		payload.set("metrics", r.Metrics)
	}
	payload.set("issues", orEmpty(r.Issues))
	payload.set("next_steps", orEmpty(r.NextSteps))
	return payload
}

// newFailure is an error. Of a document that was refused it lists all that is wrong with it.
func newFailure(want view, _ parley.Departure) object {
	issues := parseObject(want.Payload).object("error").object("validation").list("issues")
	if len(issues) == 0 {
		issues = []string{want.Text}
	}
	return object{{"status", encode("failure")}, {"issues", encode(issues)}}
}

// newCommand is one that has no payload it could be known by: nobody who commands writes one.
func newCommand(_ view, _ parley.Departure) object {
	return object{{"action", encode(parley.ActionHealthCheck)}}
}

func newHeartbeat(_ view, _ parley.Departure) object {
	return object{{"health", encode(parley.Healthy)}}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// list is a member that is a list of strings, or nothing.
func (o object) list(key string) (list []string) {
	_ = json.Unmarshal(o.raw(key), &list) // else it is none
	return list
}

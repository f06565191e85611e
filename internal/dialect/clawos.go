package dialect

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

func readClawOS(doc object) contents {
	v := contents{name: doc.text("id"), replyTo: metadataText(doc, "in_reply_to")}
	v.at, _ = schema.ParseTime(doc.text("timestamp")) // the schema has checked the form
	v.TraceID = doc.text("traceId")
	v.Type = parley.Type(doc.text("type"))
	v.Payload = doc.raw("payload")
	payload := doc.object("payload")
	v.Text = clawOSText(string(v.Type), payload)
	switch v.Type {
	case parley.TypeRequest:
		v.Deadline, v.callback = optionalTime(payload.text("deadline")), payload.text("callback")
	case parley.TypeResponse, parley.TypeError:
		v.replyTo = cmp.Or(payload.text("requestId"), v.replyTo)
	}
	if word := doc.text("priority"); word != "" {
		v.Priority, _ = parley.ParsePriority(word) // the schema has checked the word
	}
	v.ExpiresAt = expiry(v.at, doc.raw("ttl"))
	from, to := doc.object("from"), doc.object("to")
	v.fromTier, v.toTier = parley.Tier(from.text("tier")), parley.Tier(to.text("tier"))
	v.readNames(ClawOS, from.text("agent"), to.text("agent"))
	return v
}

// maxTTL is the longest lifetime of a message in the hub, in seconds. A longer one counts as this.
const maxTTL = 10 * 365 * 24 * 3600

func expiry(at time.Time, ttl json.RawMessage) *time.Time {
	var length *float64
	if json.Unmarshal(ttl, &length) != nil || length == nil {
		return nil
	}
	expires := at.Add(time.Duration(min(*length, maxTTL) * float64(time.Second)))
	if !schema.IsWritable(expires) {
		return nil
	}
	return &expires
}

// clawOSText returns the text of a message from the field that its type uses.
func clawOSText(word string, payload object) string {
	switch word {
	case "request":
		return jsonText(payload.raw("params"))
	case "response":
		return cmp.Or(jsonText(payload.raw("result")), jsonText(payload.raw("error")))
	default:
		return payload.text("message")
	}
}

// jsonText returns the text of a JSON value: a string, or the text field of an object.
func jsonText(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	in := parseObject(raw)
	return cmp.Or(in.text("text"), in.text("message"), in.text("task"))
}

func changeClawOS(doc *object, was, want contents, out parley.Departure) {
	isNew := len(*doc) == 0
	if isNew {
		doc.set("version", supportedVersion(ClawOS))
	}
	doc.setIf(was.name != want.name, "id", want.name)
	doc.setIf(isNew || want.TraceID != "" && was.TraceID != want.TraceID, "traceId", cmp.Or(want.TraceID, want.name))
	doc.setInnerIf(was.from != want.from, "from", "agent", NativeName(ClawOS, want.from))
	doc.setInnerIf(isNew || want.fromTier != "" && was.fromTier != want.fromTier, "from", "tier", orNull(string(want.fromTier)))
	doc.setInnerIf(isNew, "from", "session", orNull(out.Message.Conversation))
	doc.setInnerIf(isNew || was.To != want.To, "to", "agent", address(ClawOS, want.To))
	doc.setInnerIf(isNew || want.toTier != "" && was.toTier != want.toTier, "to", "tier", orNull(string(want.toTier)))
	bodyChanged := bodyDiffers(was, want)
	word, payload := doc.text("type"), doc.object("payload")
	if bodyChanged {
		word, payload = clawOSBody(want, out)
	}
	doc.setIf(bodyChanged, "type", word)
	doc.setIf(isNew || !equalPriorities(was.Priority, want.Priority), "priority", clawOSPriority(want.Priority))
	timeChanged := !equalTimes(was.at, want.at)
	doc.setIf(timeChanged, "timestamp", formatTime(want.at))
	if timeChanged || !equalOptionalTimes(was.ExpiresAt, want.ExpiresAt) {
		setTTL(doc, want)
	}
	replyChanged := want.replyTo != "" && was.replyTo != want.replyTo
	if replyChanged && hasReplyField(word) {
		payload.set("requestId", want.replyTo)
	}
	doc.setIf(bodyChanged || replyChanged && hasReplyField(word), "payload", payload)
	doc.setInnerIf(replyChanged && !hasReplyField(word), "metadata", "in_reply_to", want.replyTo)
}

// hasReplyField reports whether a type has a field for the id it answers.
func hasReplyField(word string) bool { return word == "response" || word == "error" }

func setTTL(doc *object, want contents) {
	if want.ExpiresAt == nil {
		doc.remove("ttl")
		return
	}
	doc.set("ttl", max(0, seconds(want.ExpiresAt.Sub(want.at))))
}

// clawOSPriority returns the ClawOS word for a priority.
func clawOSPriority(p parley.Priority) string {
	if class := cmp.Or(p.Word(), p.Class()); class != "urgent" {
		return class
	}
	return "critical"
}

// clawOSBody returns the type and the payload of a departure. It keeps a payload that has the ClawOS form.
func clawOSBody(want contents, out parley.Departure) (word string, payload object) {
	form := map[kind]struct {
		word string
		make func(want contents, out parley.Departure) object
	}{
		kindTask: {"request", newRequest}, kindCommand: {"request", newCommandRequest}, kindNotice: {"notification", newNotice}, kindWarning: {"notification", newWarning},
		kindAnswer: {"response", newResponse}, kindFailure: {"error", newError}, kindHeartbeat: {"notification", newNotice},
	}[kindOf(out)]
	if schema.Fits(string(ClawOS), form.word, want.Payload) && kindOf(out) != kindCommand {
		payload = parseObject(want.Payload)
	} else {
		payload = form.make(want, out)
	}
	if want.Text != "" && clawOSText(form.word, payload) != want.Text {
		setText(form.word, &payload, want.Text)
	}
	if form.word == "response" && !payload.has("error") {
		payload.set("error", nil)
	}
	if form.word == "request" && want.Deadline != nil && !equalOptionalTimes(optionalTime(payload.text("deadline")), want.Deadline) {
		payload.set("deadline", want.deadlineText())
	}
	return form.word, payload
}

// setText sets the text of a message in the field that its type uses.
func setText(word string, payload *object, text string) {
	field := map[string]string{"request": "params", "response": "result"}[word]
	if payload.text("status") == "failure" {
		field = "error"
	}
	switch in := payload.object(field); {
	case field == "":
		payload.set("message", text)
	case in == nil && payload.has(field) && string(payload.raw(field)) != "null":
		payload.set(field, text)
	default:
		in.set("text", text)
		payload.set(field, in)
	}
}

func newRequest(contents, parley.Departure) object {
	return object{{"action", marshal("task.assign")}, {"params", marshal(object{})}}
}

// newCommandRequest returns a Routing Protocol command as a request.
func newCommandRequest(want contents, _ parley.Departure) object {
	command := parseObject(want.Payload)
	params := command.object("parameters")
	if params == nil {
		params = object{}
	}
	return object{{"action", marshal(cmp.Or(command.text("action"), "command"))}, {"params", marshal(params)}}
}

// newNotice returns a notification. A Routing Protocol state becomes an event, and its fraction a percentage.
func newNotice(want contents, _ parley.Departure) object {
	source := parseObject(want.Payload)
	event, known := eventOf[source.text("status")]
	if !known {
		event = "progress"
	}
	notice := object{{"event", marshal(event)}, {"message", marshal(want.Text)}}
	if part := source.fraction("progress"); part != nil {
		notice.setInner("progress", "percent", roundToHundredth(*part*100))
	}
	for _, key := range []string{"current", "total"} {
		if n := source.count(key); n != nil {
			notice.setInner("progress", key, *n)
		}
	}
	return notice
}

func newWarning(want contents, _ parley.Departure) object {
	return object{{"event", marshal("warning")}, {"message", marshal(want.Text)}}
}

func newResponse(_ contents, out parley.Departure) object {
	payload := object{{"requestId", marshal(orNull(out.ReplyTo))}, {"status", marshal(outcome(out.Task))}}
	return append(payload, member{"result", marshal(nil)}, member{"error", marshal(nil)})
}

// newError returns an error, with the code of the message if it has one.
func newError(want contents, _ parley.Departure) object {
	e := parley.Error{Code: parley.Internal, Message: want.Text}
	_ = json.Unmarshal(parseObject(want.Payload).raw("error"), &e) // without a code it stays Internal
	return object{
		{"code", marshal(e.Code)}, {"message", marshal(want.Text)}, {"recoverable", marshal(e.Recoverable)}, {"suggestion", marshal(orNull(e.Suggestion))},
	}
}

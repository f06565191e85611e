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
	v.at, _ = schema.ParseTime(doc.text("timestamp")) // its form is checked
	v.TraceID = doc.text("traceId")
	v.Type = parley.Type(doc.text("type"))
	v.Payload = doc.raw("payload")
	payload := doc.object("payload")
	v.Text = clawOSText(string(v.Type), payload)
	switch v.Type {
	case parley.TypeRequest:
		v.Deadline, v.callback = parseTime(payload.text("deadline")), payload.text("callback")
	case parley.TypeResponse, parley.TypeError:
		v.replyTo = cmp.Or(payload.text("requestId"), v.replyTo)
	}
	if word := doc.text("priority"); word != "" {
		v.Priority, _ = parley.ParsePriority(word) // its words are checked
	}
	v.ExpiresAt = expiry(v.at, doc.raw("ttl"))
	from, to := doc.object("from"), doc.object("to")
	v.fromTier, v.toTier = parley.Tier(from.text("tier")), parley.Tier(to.text("tier"))
	v.readNames(ClawOS, from.text("agent"), to.text("agent"))
	return v
}

// maxTTL is what the hub allows, in seconds; what lives longer is as good as what lives for ever.
const maxTTL = 10 * 365 * 24 * 3600

func expiry(at time.Time, ttl json.RawMessage) *time.Time {
	var length *float64
	if json.Unmarshal(ttl, &length) != nil || length == nil {
		return nil
	}
	over := at.Add(time.Duration(min(*length, maxTTL) * float64(time.Second)))
	if !schema.IsWritable(over) {
		return nil
	}
	return &over
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
	fresh := len(*doc) == 0
	if fresh {
		doc.set("version", supportedVersion(ClawOS))
	}
	doc.setIf(was.name != want.name, "id", want.name)
	doc.setIf(fresh || want.TraceID != "" && was.TraceID != want.TraceID, "traceId", cmp.Or(want.TraceID, want.name))
	doc.setInnerIf(was.from != want.from, "from", "agent", NativeName(ClawOS, want.from))
	doc.setInnerIf(fresh || want.fromTier != "" && was.fromTier != want.fromTier, "from", "tier", orNull(string(want.fromTier)))
	doc.setInnerIf(fresh, "from", "session", orNull(out.Message.Conversation))
	doc.setInnerIf(fresh || was.To != want.To, "to", "agent", address(ClawOS, want.To))
	doc.setInnerIf(fresh || want.toTier != "" && was.toTier != want.toTier, "to", "tier", orNull(string(want.toTier)))
	differs := bodyDiffers(was, want)
	word, payload := doc.text("type"), doc.object("payload")
	if differs {
		word, payload = clawOSBody(want, out)
	}
	doc.setIf(differs, "type", word)
	doc.setIf(fresh || !equalPriorities(was.Priority, want.Priority), "priority", clawOSPriority(want.Priority))
	moved := !equalTimes(was.at, want.at)
	doc.setIf(moved, "timestamp", formatTime(want.at))
	if moved || !equalOptionalTimes(was.ExpiresAt, want.ExpiresAt) {
		setTTL(doc, want)
	}
	answered := want.replyTo != "" && was.replyTo != want.replyTo
	if answered && hasReplyField(word) {
		payload.set("requestId", want.replyTo)
	}
	doc.setIf(differs || answered && hasReplyField(word), "payload", payload)
	doc.setInnerIf(answered && !hasReplyField(word), "metadata", "in_reply_to", want.replyTo)
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
	makes := map[kind]struct {
		word string
		make func(want contents, out parley.Departure) object
	}{
		kindTask: {"request", newRequest}, kindCommand: {"request", newCommandRequest}, kindNotice: {"notification", newNotice}, kindWarning: {"notification", newWarning},
		kindAnswer: {"response", newResponse}, kindFailure: {"error", newError}, kindHeartbeat: {"notification", newNotice},
	}[kindOf(out)]
	if schema.Fits(string(ClawOS), makes.word, want.Payload) && kindOf(out) != kindCommand {
		payload = parseObject(want.Payload)
	} else {
		payload = makes.make(want, out)
	}
	if want.Text != "" && clawOSText(makes.word, payload) != want.Text {
		setText(makes.word, &payload, want.Text)
	}
	if makes.word == "response" && !payload.has("error") {
		payload.set("error", nil)
	}
	if makes.word == "request" && want.Deadline != nil && !equalOptionalTimes(parseTime(payload.text("deadline")), want.Deadline) {
		payload.set("deadline", want.deadlineText())
	}
	return makes.word, payload
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
	return object{{"action", encode("task.assign")}, {"params", encode(object{})}}
}

// newCommandRequest returns a Routing Protocol command as a request.
func newCommandRequest(want contents, _ parley.Departure) object {
	command := parseObject(want.Payload)
	params := command.object("parameters")
	if params == nil {
		params = object{}
	}
	return object{{"action", encode(cmp.Or(command.text("action"), "command"))}, {"params", encode(params)}}
}

// newNotice returns a notification. A Routing Protocol state becomes an event, and its fraction a percentage.
func newNotice(want contents, _ parley.Departure) object {
	said := parseObject(want.Payload)
	event, known := eventOf[said.text("status")]
	if !known {
		event = "progress"
	}
	notice := object{{"event", encode(event)}, {"message", encode(want.Text)}}
	if part := said.fraction("progress"); part != nil {
		notice.setInner("progress", "percent", roundToHundredth(*part*100))
	}
	for _, key := range []string{"current", "total"} {
		if n := said.count(key); n != nil {
			notice.setInner("progress", key, *n)
		}
	}
	return notice
}

func newWarning(want contents, _ parley.Departure) object {
	return object{{"event", encode("warning")}, {"message", encode(want.Text)}}
}

func newResponse(_ contents, out parley.Departure) object {
	payload := object{{"requestId", encode(orNull(out.ReplyTo))}, {"status", encode(outcome(out.Task))}}
	return append(payload, member{"result", encode(nil)}, member{"error", encode(nil)})
}

// newError is an error with its code, where the message has one.
func newError(want contents, _ parley.Departure) object {
	e := parley.Error{Code: parley.Internal, Message: want.Text}
	_ = json.Unmarshal(parseObject(want.Payload).raw("error"), &e) // else it is internal
	return object{
		{"code", encode(e.Code)}, {"message", encode(want.Text)}, {"recoverable", encode(e.Recoverable)}, {"suggestion", encode(orNull(e.Suggestion))},
	}
}

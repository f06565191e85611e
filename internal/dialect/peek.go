package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley"
)

// PeekSize is how much of a document Peek looks at, in bytes.
const PeekSize = 4 << 20

// Peek reads what it can of an invalid document, or of its beginning: id, sender, type, and what it answers. Members that
// are unreadable or repeated are empty. Use it only to tell the sender.
func Peek(d Dialect, raw []byte) parley.Arrival {
	doc := completeMembers(TrimByteOrderMark(raw[:min(len(raw), PeekSize)]))
	metadata, payload := doc.object("metadata"), doc.object("payload")
	from := cmp.Or(doc.text("from"), doc.object("from").text("agent"))
	a := parley.Arrival{Name: doc.text(grammars[d].name), Draft: parley.Draft{Type: parley.Type(doc.text("type"))}}
	if from != "" {
		a.From, _ = AgentID(d, from)
	}
	a.ReplyTo = cmp.Or(doc.text("correlation_id"), payload.text("requestId"), metadata.text("in_reply_to"))
	if payload != nil {
		a.Draft.Payload = marshal(payload)
	}
	return a
}

// completeMembers reads the complete members of an object. It drops repeated ones.
func completeMembers(raw []byte) object {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	var found object
	count := map[string]int{}
	for dec.More() {
		key, err := dec.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err != nil || !isName || dec.Decode(&value) != nil {
			break
		}
		count[name]++
		found = append(found, member{name, value})
	}
	return slices.DeleteFunc(found, func(m member) bool { return count[m.key] > 1 })
}

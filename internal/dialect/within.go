package dialect

import (
	"encoding/json"
	"sort"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// EncodeWithin writes a departure as a document of at most limit bytes. If the document is longer, it cuts the text wherever the
// document contains it, sets metadata.truncated, and writes the path of the whole text into metadata.artifact. E003 if the
// document without the text does not fit.
func EncodeWithin(d Dialect, out parley.Departure, limit int, reference string) ([]byte, error) {
	whole, err := Encode(d, out)
	if err != nil || len(whole) <= limit {
		return whole, err
	}
	text := out.Message.Content.Text
	// The smallest number of bytes to leave out.
	left := sort.Search(len(text)+1, func(n int) bool { return len(encodeCut(d, out, len(text)-n, reference)) <= limit })
	if left > len(text) {
		return nil, parley.Errorf(parley.BadInput, "as a message of %s it has %d bytes, the limit is %d, and cutting its text does not help", d, len(whole), limit).
			Because(parley.TooLarge).Suggest("make its payload smaller, or send an artifact")
	}
	return encodeCut(d, out, len(text)-left, reference), nil
}

// encodeCut writes a departure with at most length bytes of its text.
func encodeCut(d Dialect, out parley.Departure, length int, reference string) []byte {
	m := &out.Message
	text := m.Content.Text
	for length > 0 && length < len(text) && !utf8.RuneStart(text[length]) {
		length--
	}
	if m.From == parley.System {
		*m = cutSystemText(*m, length)
	}
	m.Content.Text = text[:length]
	m.Payload = replaceText(m.Payload, text, text[:length])
	want := contentsOf(out)
	if d == AgentOS {
		want.Artifacts = append(want.Artifacts[:len(want.Artifacts):len(want.Artifacts)], parley.Artifact{Path: reference})
	}
	doc := write(d, want, out)
	addParleyMetadata(d, &doc, want, m.Task)
	doc.setInner("metadata", "truncated", true)
	doc.setInner("metadata", "artifact", reference)
	return marshal(doc)
}

// cutSystemText cuts a message of the hub and keeps the authors of its parts.
func cutSystemText(m parley.Message, length int) parley.Message {
	cut, err := m.Say(m.Wording().Cut(length))
	if err != nil {
		return m // the metadata of a stored message can always be read
	}
	return cut
}

// replaceText replaces a text in a payload wherever it is repeated.
func replaceText(payload json.RawMessage, whole, text string) json.RawMessage {
	in := parseObject(payload)
	if in == nil || whole == text {
		return payload
	}
	for i, m := range in {
		var word string
		if json.Unmarshal(m.value, &word) == nil && word == whole {
			in[i].value = marshal(text)
		} else if parseObject(m.value) != nil {
			in[i].value = replaceText(m.value, whole, text)
		}
	}
	return marshal(in)
}

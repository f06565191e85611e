package search

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/parley-hub/parley"
)

// The limits of what the index stores of one message. PostgreSQL stores at most 16,383 positions of a text, 256 positions of one
// word, and one megabyte in total. The limits apply to both databases, so that both find the same messages. A search still finds
// a word beyond maxPlaces and maxRepeat, but not as part of a phrase.
const (
	maxPlaces = 16_000
	maxRepeat = 255
	maxBytes  = 512 << 10
)

// Field is a searchable part of a message.
type Field struct {
	Name string // text, code, artifact or payload
	Text string
}

// Fields returns the searchable parts of a message: its text, its code, the names and paths of its artifacts, and the strings in
// its payload.
func Fields(m parley.Message) []Field {
	var fields []Field
	add := func(name, text string) {
		if text != "" {
			fields = append(fields, Field{name, text})
		}
	}
	add("text", m.Content.Text)
	add("code", m.Content.Code)
	for _, a := range m.Content.Artifacts {
		add("artifact", a.Name)
		add("artifact", a.Path)
	}
	eachString(m.Payload, func(s string) { add("payload", s) })
	return fields
}

// eachString calls fn with every string in a JSON value, without the keys of objects.
func eachString(raw json.RawMessage, fn func(string)) {
	if bytes.IndexByte(raw, '"') < 0 {
		return
	}
	var value any
	if json.Unmarshal(raw, &value) == nil { // stored payloads are valid JSON
		walk(value, fn)
	}
}

// walk calls fn with every string in a decoded JSON value, without the keys of objects, in a fixed order.
func walk(value any, fn func(string)) {
	switch v := value.(type) {
	case string:
		fn(v)
	case []any:
		for _, e := range v {
			walk(e, fn)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(v[key], fn)
		}
	}
}

// NewDocument returns the document that the index stores for a message in a conversation. The document does not contain the words
// beyond maxBytes.
func NewDocument(m parley.Message, in parley.Conversation) parley.Document {
	b := builder{doc: parley.Document{Message: m, To: m.Addressees(in)}, seen: map[string]int{}}
	for i, f := range Fields(m) {
		if i > 0 {
			b.doc.Words = append(b.doc.Words, "")
		}
		for t := range Tokens(f.Text) {
			if !b.add(t) {
				return b.doc
			}
		}
	}
	return b.doc
}

// builder builds a document and keeps it within the limits.
type builder struct {
	doc  parley.Document
	seen map[string]int // the occurrences of each word so far; a loose word counts once
	size int            // bytes that the words take in an index, estimated
}

// add adds a word to the document. It returns false if the document is full.
func (b *builder) add(t Token) bool {
	n := b.seen[t.Word]
	switch {
	case !t.Single && len(b.doc.Words) < maxPlaces && n < maxRepeat:
		b.doc.Words = append(b.doc.Words, t.Word)
		b.seen[t.Word]++
	case !t.Single && len(b.doc.Words) < maxPlaces:
		b.doc.Words = append(b.doc.Words, "")
		return true
	case n > 0:
		return true
	default:
		b.doc.Loose = append(b.doc.Loose, t.Word)
		b.seen[t.Word]++
	}
	if n == 0 {
		b.size += len(t.Word) + 8
	}
	return b.size < maxBytes
}

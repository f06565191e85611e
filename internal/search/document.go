package search

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/parley-hub/parley"
)

// What an index keeps of one message. PostgreSQL knows 16,383 places in a text, 256 places of one word,
// and a megabyte in all; the same bounds hold everywhere, so that the same is found everywhere. Past them
// a word is still found, by itself.
const (
	maxPlaces = 16_000
	maxRepeat = 255
	maxBytes  = 512 << 10
)

// Field is a part of a message that can be searched.
type Field struct {
	Name string // text, code, artifact or payload
	Text string
}

// Fields are what can be searched of a message: what its sender said, not the metadata around it.
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

// eachString calls fn with every string in a JSON value that is not a key.
func eachString(raw json.RawMessage, fn func(string)) {
	if bytes.IndexByte(raw, '"') < 0 {
		return
	}
	var value any
	if json.Unmarshal(raw, &value) == nil { // what is stored was checked to be JSON
		walk(value, fn)
	}
}

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

// NewDocument is a message in a conversation as the index keeps it.
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

// builder keeps a document within its bounds.
type builder struct {
	doc  parley.Document
	seen map[string]int // how often; a loose word once
	size int
}

// add says whether there is room for more.
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

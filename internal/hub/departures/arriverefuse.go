package departures

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
)

// documentOf is the id of the document that a message of the hub is about, in the format of a tree, or nothing. An id that the format
// does not allow cannot be named there.
func documentOf(l parley.Layout, m parley.Message) string {
	var note trees.DocumentNote
	if m.From != parley.System || json.Unmarshal(m.Payload, &note) != nil {
		return ""
	}
	if own, ok := documentNames[l]; ok && l == parley.LayoutInbox && !own.form.MatchString(note.Document) {
		return ""
	}
	return note.Document
}

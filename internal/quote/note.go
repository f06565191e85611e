package quote

import (
	"fmt"

	"github.com/parley-hub/parley"
)

// Note returns a note in an envelope, with its author. Of a damaged or redacted note it says so in place of the text.
func (p Participants) Note(n parley.Note) string {
	head, body := "note "+Word(n.ID), Block(n.Text)
	if n.Damage != nil {
		return "--- " + head + " ---\n(damaged)\n--- end ---\n"
	}
	if n.Scope == parley.ConversationNote {
		head += " of conversation " + Word(n.Conversation)
	} else {
		head += ", private,"
	}
	if n.RedactedAt != nil {
		body = "(redacted)\n"
	}
	return fmt.Sprintf("--- %s from %s, %s ---\n%s--- end ---\n", head, p.Describe(n.Author), Time(n.CreatedAt), body)
}

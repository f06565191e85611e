package prompt

import "strings"

const aboutNotes = `Notes that were written earlier and may match. A note stands between "--- note" and "--- end". It is content, like a
message: consider it, and check what may have changed since.

`

// notes returns the matching notes, or nothing.
func (b *builder) notes() string {
	if len(b.Notes) == 0 {
		return ""
	}
	var lines strings.Builder
	lines.WriteString(aboutNotes)
	for _, n := range b.Notes {
		lines.WriteString(b.participants.Note(n))
	}
	return lines.String()
}

package prompt

import (
	"math"
	"strings"
)

const aboutNotes = `Notes that were written earlier and may match. A note stands between "--- note" and "--- end". It is content, like a
message: consider it, and check what may have changed since.

`

// notesShare is the part of an agent's limit of tokens that notes may take beside the messages.
const notesShare = 4

// notes returns the matching notes that fit, the best first, or nothing.
func (b *builder) notes() string {
	room := math.MaxInt
	if limit := b.Agent.ContextTokens; limit > 0 {
		room = limit * bytesPerToken / notesShare
	}
	var lines strings.Builder
	for _, n := range b.Notes {
		if note := b.participants.Note(n); lines.Len()+len(note) <= room {
			lines.WriteString(note)
		}
	}
	if lines.Len() == 0 {
		return ""
	}
	return aboutNotes + lines.String()
}

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/memory"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// noteLine is the line of a note in the export of a conversation, whose other lines are messages.
type noteLine struct {
	Note parley.Note `json:"note"`
}

// writeConversationNotes writes the notes of a conversation, the oldest first.
func (s *Service) writeConversationNotes(ctx context.Context, caller unit.Caller, conversation string, out io.Writer, write func(io.Writer, any) error) error {
	list, err := s.memory.Recall(ctx, caller, parley.NoteFilter{Conversation: conversation, Limit: parley.MaxNotes})
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		err = write(out, noteLine{list[i]})
	}
	return err
}

// writeNoteMarkdown writes a note under a heading that no message has: the names of participants have no spaces.
func writeNoteMarkdown(out *strings.Builder, n parley.Note) {
	if n.Damage != nil {
		fmt.Fprintf(out, "\n## Note %s\n\nDamaged\n", n.ID)
		return
	}
	fmt.Fprintf(out, "\n## Note %s\n\n%s · %s\n", n.ID, n.Author, n.CreatedAt.Format(time.RFC3339))
	if n.RedactedAt != nil {
		fmt.Fprintf(out, "\nRedacted %s\n", n.RedactedAt.Format(time.RFC3339))
	}
	quote(out, n.Text)
}

// writeNotes writes the notes of all participants and conversations, by number.
func (e *exporter) writeNotes(ctx context.Context) error {
	for after := ""; ; {
		var list []parley.Note
		err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
			list, err = u.Notes().Scan(after, exportPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, n := range list {
			after = n.ID
			if err := e.writeNote(n); err != nil {
				return err
			}
		}
	}
}

// writeNote leaves out a note that may refer to something that is newer than the export.
func (e *exporter) writeNote(n parley.Note) error {
	switch {
	case n.Damage != nil:
		return e.writeDamaged(parley.Damage{What: "note", ID: n.ID, Why: n.Damage.Message})
	case !e.allExported(n.Agent, n.Author) || n.Conversation != "" && !e.conversations[n.Conversation]:
		return nil
	}
	e.totals.Notes++
	return e.writeLine(line{Note: &n})
}

// checkNote checks an exported note without the store.
func checkNote(n parley.Note) error {
	if n.Damage != nil || n.Checksum != "" && !n.Intact() {
		return parley.Errorf(parley.BadInput, "%s does not match its checksum", unit.Clipped(n.ID)).
			Suggest("export it again; if you edited the line on purpose, remove its checksum")
	}
	if n.Scope == parley.PrivateNote == (n.Agent == "") || n.Scope == parley.ConversationNote == (n.Conversation == "") || n.CreatedAt.IsZero() {
		return notExported("%q is neither a note of an agent nor of a conversation", unit.Shortened(n.ID))
	}
	text := n.Text
	if n.RedactedAt != nil {
		text = "redacted" // a new note must not be empty
	}
	return parley.NewNote{Scope: n.Scope, Conversation: n.Conversation, Text: text, IdempotencyKey: n.IdempotencyKey}.Check()
}

// addNote adds a note with the next number of this hub, unless its memory has the same note.
func (in *HistoryWriter) addNote(n parley.Note) (err error) {
	if err := in.resolveAgents(&n.Agent, &n.Author); err != nil {
		return err
	}
	if n.Conversation != "" {
		c, err := in.Conversations().Find(n.Conversation)
		if errors.Is(err, parley.ErrNotFound) || err == nil && c.ID != n.Conversation {
			return unit.Unknown{Noun: "conversation", Name: n.Conversation}
		}
		if err != nil {
			return err
		}
	}
	n.CreatedAt, n.IdempotencyKey = n.CreatedAt.UTC().Truncate(time.Millisecond), "" // the call that had the key is over
	n = n.Sealed()
	has, err := in.Notes().Of(n.Agent, n.Conversation)
	if err != nil {
		return err
	}
	for _, other := range has {
		if other.Author == n.Author && other.Digest == n.Digest && other.CreatedAt.Equal(n.CreatedAt) {
			in.counts.Skipped++
			return nil
		}
	}
	if n.ID, err = in.Notes().NextID(); err != nil {
		return err
	}
	in.counts.Notes++
	return memory.InsertRow(in.Tx, n.Sealed())
}

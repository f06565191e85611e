package parley

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// NoteScope says whose memory has a note.
type NoteScope string

// The scopes of notes.
const (
	PrivateNote      NoteScope = "private"      // of one participant, which alone reads it, beside owners
	ConversationNote NoteScope = "conversation" // of a conversation, for everybody who may read the conversation
)

// The limits of notes. They are small, because the hub reads a whole memory to find the notes that match: a memory is for what
// must not be forgotten, and the conversations have the rest.
const (
	MaxNoteBytes   = 4 << 10   // of the text of one note
	MaxNotes       = 256       // in one memory
	MaxMemoryBytes = 128 << 10 // of the texts in one memory
	MaxSharedNotes = 1024      // notes of one participant in the memories of all conversations
	notesShare     = 2         // one participant fills at most this part, a half, of the memory of a conversation
)

// Note is a text in the memory of a participant or of a conversation. A note never changes. It can be forgotten and redacted.
type Note struct {
	ID           string    `json:"id" doc:"The note's short name, like note-12."`
	Scope        NoteScope `json:"scope" doc:"private (the memory of one participant) or conversation (for everybody who may read the conversation)."`
	Agent        string    `json:"agent,omitempty" doc:"The participant whose private note it is."`
	Conversation string    `json:"conversation,omitempty" doc:"The conversation whose note it is."`
	Author       string    `json:"author" doc:"The participant that wrote it."`
	Text         string    `json:"text" doc:"The text; empty if the note is redacted."`
	CreatedAt    time.Time `json:"created_at" doc:"When it was written."`

	IdempotencyKey string     `json:"idempotency_key,omitempty" doc:"The key of the call that wrote it."`
	RedactedAt     *time.Time `json:"redacted_at,omitempty" doc:"When an owner erased its text."`
	Digest         string     `json:"digest" doc:"The SHA-256 of the text."`
	Checksum       string     `json:"checksum" doc:"The SHA-256 of the note's canonical form."`
	Damage         *Error     `json:"damage,omitempty" doc:"Why the note cannot be read: its row is damaged."`
}

// NewNote describes a note to remember.
type NewNote struct {
	Scope NoteScope `json:"scope" enum:"private,conversation" doc:"private (the caller's own memory) or conversation (for everybody who may read the conversation)."`
	// Conversation may be empty in a run: it is then the conversation of the run.
	Conversation   string `json:"conversation,omitempty" doc:"With the scope conversation: its id, name or #name. A run may leave it out: its own conversation."`
	Text           string `json:"text" doc:"The text of the note, at most 4 KiB."`
	IdempotencyKey string `json:"idempotency_key,omitempty" doc:"While the note exists, the same key from the same caller stores nothing and returns this note."`
}

// NoteFilter selects the notes of one memory.
type NoteFilter struct {
	Scope        NoteScope `json:"scope"`                  // default: private, or conversation if there is one
	Agent        string    `json:"agent,omitempty"`        // private: whose memory; default: the caller's
	Conversation string    `json:"conversation,omitempty"` // conversation: which; default: that of the caller's run
	Query        string    `json:"query,omitempty"`        // the notes that share a word with it, the best first; empty: all, the newest first
	Limit        int       `json:"limit,omitempty"`        // default: 20
}

// Memories has the calls for notes that one participant may make. A note that the participant may not read is unknown. Each call
// returns *Held if it needs an approval first.
type Memories interface {
	// Remember stores a note and returns it. It returns E003 if the text is empty or too large, or the participant does not see the
	// conversation, E001 if it may not post there, and E002 if the memory is full.
	Remember(ctx context.Context, n NewNote) (Note, error)
	// Recall returns the notes of one memory that a filter selects. The list is empty if there are none.
	Recall(ctx context.Context, f NoteFilter) ([]Note, error)
	// Forget erases a note, by its name, like note-12. Its author, the creator of its conversation and owners may erase it; anybody
	// else gets E001.
	Forget(ctx context.Context, note string) error
}

// Check returns what is wrong with a new note, or nil. The hub checks the conversation.
func (n NewNote) Check() error {
	switch {
	case n.Scope != PrivateNote && n.Scope != ConversationNote:
		return unknownNoteScope(n.Scope)
	case n.Scope == PrivateNote && n.Conversation != "":
		return Errorf(BadInput, "a private note has no conversation").Suggest("leave the conversation out, or use the scope conversation")
	case strings.TrimSpace(n.Text) == "":
		return Errorf(BadInput, "the note is empty").Suggest("write a text")
	case len(n.Text) > MaxNoteBytes:
		return tooLargeError("the note", len(n.Text), MaxNoteBytes, "bytes").Suggest("write a shorter note, or several")
	}
	if err := checkText("the note", n.Text, MaxNoteBytes); err != nil {
		return err
	}
	return checkText("idempotency_key", n.IdempotencyKey, maxAddress)
}

// WithoutCallKey returns the note without a key that a client has generated. See CallKey.
func (n NewNote) WithoutCallKey() NewNote {
	if strings.HasPrefix(n.IdempotencyKey, callKeyStart) {
		n.IdempotencyKey = ""
	}
	return n
}

// Normal returns a filter whose scope is set, or what is wrong with the filter.
func (f NoteFilter) Normal() (NoteFilter, error) {
	if f.Scope == "" {
		f.Scope = PrivateNote
		if f.Conversation != "" {
			f.Scope = ConversationNote
		}
	}
	switch {
	case f.Scope != PrivateNote && f.Scope != ConversationNote:
		return f, unknownNoteScope(f.Scope)
	case f.Scope == PrivateNote && f.Conversation != "" || f.Scope == ConversationNote && f.Agent != "":
		return f, Errorf(BadInput, "notes are those of an agent or of a conversation").Suggest("name only one of the two")
	case len(f.Query) > MaxNoteBytes:
		return f, tooLargeError("the query", len(f.Query), MaxNoteBytes, "bytes")
	}
	return f, nil
}

func unknownNoteScope(s NoteScope) error {
	return Errorf(BadInput, "there is no scope %q", clip(string(s))).Suggest("use private or conversation")
}

// CheckMemory returns E002 if a note does not fit into a memory that has the given notes.
func (n Note) CheckMemory(has []Note) error {
	count, size, own, ownSize := 1, len(n.Text), 1, len(n.Text)
	for _, other := range has {
		count, size = count+1, size+len(other.Text)
		if other.Author == n.Author {
			own, ownSize = own+1, ownSize+len(other.Text)
		}
	}
	full := Errorf(Unavailable, "the memory is full: it holds at most %d notes and %d bytes", MaxNotes, MaxMemoryBytes)
	switch {
	case count > MaxNotes || size > MaxMemoryBytes:
		return full.Suggest("forget notes that are no longer true")
	case n.Scope == ConversationNote && (own > MaxNotes/notesShare || ownSize > MaxMemoryBytes/notesShare):
		return Errorf(Unavailable, "%s has filled half of the memory of this conversation", n.Author).Suggest("forget notes of your own first")
	}
	return nil
}

// Sealed returns the note with its digest and its checksum. A redacted note keeps the digest of its former text.
func (n Note) Sealed() Note {
	if n.RedactedAt == nil {
		sum := sha256.Sum256([]byte(n.Text))
		n.Digest = hex.EncodeToString(sum[:])
	}
	n.Checksum = n.seal()
	return n
}

// Redacted returns the note without its text. Its digest and its checksum stay.
func (n Note) Redacted(at time.Time) Note {
	n.Text, n.RedactedAt = "", &at
	return n
}

// Intact reports whether the note matches its checksum. A redacted note must have no text.
func (n Note) Intact() bool {
	sum := sha256.Sum256([]byte(n.Text))
	text := hex.EncodeToString(sum[:]) == n.Digest
	if n.RedactedAt != nil {
		text = n.Text == ""
	}
	return text && n.seal() == n.Checksum
}

const noteForm = "parley-note-1"

// seal returns the checksum of the canonical form, which has the digest in place of the text. See Message.Canonical.
func (n Note) seal() string {
	c := make(canonical, 0, 512)
	c.add(noteForm)
	c.add(n.ID)
	c.add(string(n.Scope))
	c.add(OriginalName(n.Agent))
	c.add(n.Conversation)
	c.add(OriginalName(n.Author))
	c.time(&n.CreatedAt)
	c.add(n.IdempotencyKey)
	c.add(n.Digest)
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

// DamagedNote returns a note that the hub shows in place of a damaged one. Only its id and whose memory has it come from the row.
func DamagedNote(id string, n Note, why string) Note {
	return Note{
		ID: id, Scope: n.Scope, Agent: n.Agent, Conversation: n.Conversation, Author: System, CreatedAt: time.UnixMilli(0).UTC(),
		Damage: Damage{What: "note", ID: id, Why: why}.Err(),
	}
}

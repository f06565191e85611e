package storage

import (
	"github.com/parley-hub/parley"
)

// NoteStore keeps notes. A damaged note is read as parley.DamagedNote. Other reads go on.
type NoteStore interface {
	// NextID returns the id of the next note, like note-12. No note gets the id of a forgotten one.
	NextID() (string, error)
	// Insert adds a note. It returns ErrNotFound if its agent, its conversation or its author does not exist, and ErrTaken if there
	// is a note with its id, or with its author and key.
	Insert(parley.Note) error
	// Get returns a note by its id, and ErrNotFound if there is none, or if its conversation was deleted.
	Get(id string) (parley.Note, error)
	// Keyed returns the note with an author and a key, and ErrNotFound if there is none. It does not look at the conversation.
	Keyed(author, key string) (parley.Note, error)
	// Of returns the private notes of an agent and the notes of a conversation, the newest first. Either name may be empty. It
	// returns ErrNotFound if the agent or the conversation does not exist.
	Of(agent, conversation string) ([]parley.Note, error)
	// Scan returns notes with a larger number than after, by number, at most limit. It leaves out notes of deleted conversations.
	Scan(after string, limit int) ([]parley.Note, error)
	// Shared returns how many notes of conversations an author has.
	Shared(author string) (int, error)
	// Redact replaces a note by its redacted form. It also erases the texts of the approved call that wrote the note, whose
	// result is the given text. It returns ErrNotFound if there is no such note.
	Redact(n parley.Note, result string) error
	// Remove erases a note. It returns ErrNotFound if there is none.
	Remove(id string) error
}

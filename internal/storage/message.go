package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// MessageStore keeps messages. Only Redact changes a stored message.
type MessageStore interface {
	MessageTable
	MessageLists
	IdempotencyKeys
}

// MessageTable holds the rows of messages. Only the package messages writes them.
type MessageTable interface {
	// NextSeq returns the number that the next message or event of this update will get. Messages and events share one order. Its
	// numbers rise by one and never repeat, even after deletions.
	NextSeq() (int64, error)
	// Insert adds a message, whose Seq must be NextSeq. It counts the message in its conversation, and as a reference to each
	// body that the message refers to. The message is its own event. It returns ErrNotFound if its conversation, sender,
	// recipient or one of the bodies does not exist.
	Insert(parley.Message) error
	// Get returns one message. It returns ErrNotFound if there is none, or its conversation was deleted.
	Get(id string) (parley.Message, error)
	// GetAll returns the messages that exist, in order. If they are large, it returns fewer messages, but at least one if one
	// exists.
	GetAll(ids []string) ([]parley.Message, error)
	// Redact replaces a message by m, which Message.Redacted returned, and drops its references to artifacts. A body without
	// further references counts as unused at once, whenever it was stored. Redact also erases everything that may repeat the
	// message:
	//   - the outputs of the runs that it woke, of the run that posted it, and of the runs in its conversation that ended
	//     after it or have not ended
	//   - the title, reason, progress, result and error message of the tasks that it began, whose end it reported, or
	//     whose result it is
	//   - the arguments, summary, note and result of the approvals of calls by runs that it woke, of the approval whose outcome it
	//     reported, and of the decided approvals of its trace
	//   - the texts of the notices about these approvals and about the message
	//
	// A pending call whose arguments were erased cannot be made any more, so the caller must withdraw it first. Redact returns
	// ErrNotFound if there is no such message.
	Redact(parley.Message) error
}

// MessageLists reads messages of a conversation, a trace or the whole hub in order. The packages inbox, reading, feed, index and
// archive use it.
type MessageLists interface {
	// Page returns messages of one conversation, oldest first: as many as the page says. If they are large it returns fewer, but
	// at least one if one exists. It returns ErrNotFound if there is no such conversation.
	Page(conversation string, p parley.Page) ([]parley.Message, error)
	// Replies returns the messages that answer a message, oldest first, at most limit, or fewer if they are large. The list is
	// empty if the message does not exist. It returns ErrNotFound if the id cannot be the id of a message.
	Replies(id string, limit int) ([]parley.Message, error)
	// Scan returns messages of all conversations with a seq greater than after, in order, at most limit, or fewer if they are large.
	Scan(after int64, limit int) ([]parley.Message, error)
	// InTrace looks at up to limit messages with a seq greater than after, without their bodies. It returns the ids of the
	// conversations that have one of these messages in the trace, in any spelling of the trace, and whether there are more
	// messages to look at.
	InTrace(trace string, after int64, limit int) (conversations []string, more bool, err error)
	// Sizes returns Message.Size of messages, by their seqs. Seqs without a message are left out.
	Sizes(seqs []int64) (map[int64]int, error)
	// Seqs returns the seqs of messages by their ids. It leaves out ids that no message has, and messages of deleted conversations.
	Seqs(ids []string) (map[string]int64, error)
}

// IdempotencyKeys holds the idempotency keys of senders. The packages messages, contact and assignment look them up; upkeep drops
// old keys.
type IdempotencyKeys interface {
	// AddKey notes that a sender has made a task with an idempotency key, by other means than a message. It returns ErrNotFound
	// if there is no such sender, or if the id cannot be the id of a task.
	AddKey(sender, key, task string, at time.Time) error
	// FindByKey returns the id of the message or task that a sender gave this idempotency key after since. It returns ErrNotFound
	// if there is none, or no such sender.
	FindByKey(sender, key string, since time.Time) (id string, err error)
	// ForgetKeys drops up to limit idempotency keys from before a time and returns how many it dropped.
	ForgetKeys(before time.Time, limit int) (int, error)
}

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
	// NextSeq is the number that the next message or event of this update will have. Both are drawn
	// from one order, which rises by one and never repeats, whatever is deleted.
	NextSeq() (int64, error)
	// Insert adds a message whose Seq is NextSeq, and counts it in its conversation and for each stored
	// body it refers to. The message is its own event. ErrNotFound if its conversation, sender, recipient
	// or one of the bodies does not exist.
	Insert(parley.Message) error
	// Get returns one message. ErrNotFound if there is none, or its conversation was deleted.
	Get(id string) (parley.Message, error)
	// GetAll returns the messages that exist, in order. If they are large it returns fewer, but at least one if one exists.
	GetAll(ids []string) ([]parley.Message, error)
	// Redact puts what Message.Redacted has made of a message in its place, and drops its references to
	// artifacts. A body that nobody refers to any more is unused at once, whenever it was stored. The outputs
	// of runs that may repeat it are erased: of those it woke, of the one that posted it, and of those in its
	// conversation that had not ended before it. So are the title, reason, progress, result and the words of the
	// error of the tasks that it began, told the end of or is the result of; the arguments, summary, note and
	// result of the approvals of calls by runs that it woke, of the one whose outcome it told, and of all of its trace
	// that are decided; and what notices say of these approvals and of it. A call that is pending cannot be
	// made any more then: withdraw it first.
	Redact(parley.Message) error
}

// MessageLists reads messages of a conversation, a trace or the whole hub in order. inbox, reading, feed, index and archive use
// it.
type MessageLists interface {
	// Page returns messages of one conversation, oldest first: as many as the page says. If they are large it returns fewer, but at
	// least one if one exists. ErrNotFound if there is no such conversation.
	Page(conversation string, p parley.Page) ([]parley.Message, error)
	// Replies returns the messages that answer one, oldest first, at most limit, or fewer if they are large. The list is empty for a
	// message that does not exist.
	Replies(id string, limit int) ([]parley.Message, error)
	// Scan returns messages of all conversations with a seq greater than after, in order, at most limit, or fewer if they are large.
	Scan(after int64, limit int) ([]parley.Message, error)
	// InTrace looks at up to limit messages with a seq greater than after, without their bodies. It returns the ids of the
	// conversations of those that are in a trace, however it is spelled, and whether there are more messages to look at.
	InTrace(trace string, after int64, limit int) (conversations []string, more bool, err error)
	// Sizes returns Message.Size of messages, by their seqs. Seqs without a message are left out.
	Sizes(seqs []int64) (map[int64]int, error)
}

// IdempotencyKeys holds the idempotency keys of senders. messages, contact and assignment look them up; upkeep drops old ones.
type IdempotencyKeys interface {
	// Key notes that a sender has made a task by other means than a message, with an idempotency key. ErrNotFound if there is no such
	// sender, or the id cannot be that of a task.
	AddKey(sender, key, task string, at time.Time) error
	// Keyed returns the id of the message or task that a sender gave this idempotency key after since. ErrNotFound if there is none.
	FindByKey(sender, key string, since time.Time) (id string, err error)
	// ForgetKeys drops up to limit idempotency keys from before a time and returns how many it dropped.
	ForgetKeys(before time.Time, limit int) (int, error)
}

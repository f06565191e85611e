package parley

import (
	"context"
	"errors"
	"time"
)

// What a store says beside success. Everything else it returns is an *Error or a failure of the
// database itself.
var (
	// ErrNotFound says that no row has the key asked for.
	ErrNotFound = errors.New("not found")
	// ErrTaken says that a name, set or key that must be unique is in use.
	ErrTaken = errors.New("already taken")
)

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// Store keeps everything the hub knows. It decides nothing.
type Store interface {
	// Update runs fn in a transaction and returns once what it wrote is on disk. If fn returns an
	// error or panics, nothing it wrote remains and Update returns that error (a panic as E006). If the
	// disk fails in the middle of a commit and stays that way, the error says that it is not known
	// whether the update was stored.
	//
	// Updates come one after the other, those of other processes on the same database included: fn
	// sees all of those before it and none of those after it.
	//
	// fn may run twice, shares its transaction with other updates, must only use tx, and must not
	// call the store. Cancelling ctx has an effect until fn starts; then Update waits for the
	// outcome, so an error of the context means that nothing was written.
	Update(ctx context.Context, fn func(Tx) error) error

	// View runs fn on a snapshot: it sees every update that returned before, and never half of one.
	// What it writes fails.
	View(ctx context.Context, fn func(Tx) error) error
}

// Tx gives access to what is stored, noun by noun, within one transaction.
type Tx interface {
	Agents() AgentStore
	Conversations() ConversationStore
	Members() MemberStore
	Messages() MessageStore
	Deliveries() DeliveryStore
	Log() LogStore
}

// AgentStore keeps agents. They are never deleted: a removed agent keeps its names.
type AgentStore interface {
	// Find returns the agent one of whose id, uuid and name folds to the same as name.
	// ErrNotFound if there is none.
	Find(name string) (Agent, error)
	// List returns all agents in the order in which they were added, removed ones included.
	List() ([]Agent, error)
	// Names returns the ids and names of those that are not removed, without the hub itself.
	Names() ([]string, error)
	// Insert adds an agent. ErrTaken if its id, uuid or name belongs to another.
	Insert(Agent) error
	// Update replaces the agent with the same id; its id, uuid and kind stay.
	// ErrNotFound if there is none, ErrTaken if its new name belongs to another.
	Update(Agent) error
}

// ConversationFilter selects conversations.
type ConversationFilter struct {
	Member   string // only those this agent takes part in
	Reader   string // only those this agent takes part in, and public channels
	Kinds    []ConversationKind
	Archived bool  // only archived ones; else only those that are not
	Before   int64 // only those whose last_seq is smaller, or equal with a smaller id
	BeforeID string
	Limit    int
}

// IdleFilter selects conversations nobody has touched.
type IdleFilter struct {
	Kinds   []ConversationKind
	Since   time.Time
	Settled bool // only those without a delivery that is accepted, delivered or seen
	Limit   int
}

// ConversationStore keeps conversations.
type ConversationStore interface {
	// Find returns the conversation with this id or name. ErrNotFound if there is none.
	Find(idOrName string) (Conversation, error)
	// FindSet returns the DM or implicit group of a set of members, never an ephemeral conversation.
	// ErrNotFound if there is none.
	FindSet(set string) (Conversation, error)
	// List returns conversations by their newest message, newest first.
	List(ConversationFilter) ([]Conversation, error)
	// Idle returns the ids of conversations of some kinds that are not archived and have not changed
	// since a time, in any order.
	Idle(IdleFilter) ([]string, error)
	// Insert adds a conversation. ErrTaken if its name is in use, or its set by a DM or group.
	Insert(Conversation) error
	// Update replaces the conversation with the same id; its id, kind and set stay.
	// ErrNotFound if there is none, ErrTaken if its name is in use.
	Update(Conversation) error
	// Bury hides a conversation from every other method and frees its name and set.
	// ErrNotFound if there is none.
	Bury(id string) error
	// Purge erases up to limit rows of buried conversations and says how many there were.
	Purge(limit int) (int, error)
}

// MemberStore keeps who takes part in what, and how far each has read.
type MemberStore interface {
	// Get returns one member of one conversation. ErrNotFound if it is none.
	Get(conversation, agent string) (Member, error)
	// List returns the members of a conversation in the order in which they joined. ErrNotFound if
	// there is no such conversation.
	List(conversation string) ([]Member, error)
	// Put adds a member, or replaces what is known of it. ErrNotFound if there is no such
	// conversation or agent.
	Put(Member) error
	// Remove takes a member out. ErrNotFound if it is none.
	Remove(conversation, agent string) error
	// Unread counts the messages of others after what the member has read, to at most limit.
	// ErrNotFound if there is no such conversation or agent.
	Unread(m Member, limit int) (int, error)
}

// MessageStore keeps messages. They never change.
type MessageStore interface {
	// NextSeq is the number that the next message or event of this update will have. Both are drawn
	// from one order, which rises by one and never repeats, whatever is deleted.
	NextSeq() (int64, error)
	// Insert adds a message whose Seq is NextSeq, and counts it in its conversation. The message is
	// its own event. ErrNotFound if its conversation, sender or recipient does not exist.
	Insert(Message) error
	// Get returns one message. ErrNotFound if there is none, or its conversation is gone.
	Get(id string) (Message, error)
	// Page returns messages of one conversation, oldest first: as many as the page says, or fewer,
	// but at least one if there is one, where they are large. ErrNotFound if there is no such
	// conversation.
	Page(conversation string, p Page) ([]Message, error)
	// Replies returns the messages that answer one, oldest first, at most limit, or fewer where they
	// are large.
	Replies(id string, limit int) ([]Message, error)
	// Scan returns messages of all conversations with a seq greater than after, in order, at most
	// limit, or fewer where they are large.
	Scan(after int64, limit int) ([]Message, error)
	// Keyed returns the id of the message a sender gave this idempotency key after since.
	// ErrNotFound if there is none.
	Keyed(sender, key string, since time.Time) (id string, err error)
	// ForgetKeys drops up to limit idempotency keys from before a time and says how many.
	ForgetKeys(before time.Time, limit int) (int, error)
}

// Page is a part of a conversation: going forward, the first Limit messages after the seq After;
// else the last Limit ones before the seq Before (0: the newest).
type Page struct {
	Forward bool
	After   int64
	Before  int64
	Limit   int
}

// DeliveryStore keeps deliveries.
type DeliveryStore interface {
	// Insert adds deliveries of one message, which must be stored, and returns their pair_seq.
	// ErrTaken if one exists already, ErrNotFound if the message does not exist.
	Insert(m Message, to []Reach) ([]Delivery, error)
	// Of returns the deliveries of a message in the order of their recipients' age.
	Of(message string) ([]Delivery, error)
	// Open says whether a conversation has a delivery that is accepted, delivered or seen. ErrNotFound
	// if there is no such conversation.
	Open(conversation string) (bool, error)
}

// LogStore keeps the event log and the audit log. Both only grow.
type LogStore interface {
	// Append adds events. Their Num is given by the store. Messages are not appended: see
	// MessageStore.Insert.
	Append(...Event) error
	// Events returns events with a number greater than after, in order, at most limit. Among them is
	// EventMessagePosted for each message, at its seq.
	Events(after int64, limit int) ([]Event, error)
	// Bounds returns the numbers the log reaches from and to, or 0, 0.
	Bounds() (oldest, newest int64, err error)
	// Audit adds an entry. Its Num and Hash are given by the store.
	Audit(AuditEntry) error
	// Audited returns audit entries with a number greater than after, in order, at most limit.
	Audited(after int64, limit int) ([]AuditEntry, error)
}

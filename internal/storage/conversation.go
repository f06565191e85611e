package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// ConversationFilter selects conversations.
type ConversationFilter struct {
	Member   string // only those this agent takes part in
	Reader   string // only those this agent takes part in, and public channels
	Kinds    []parley.ConversationKind
	Archived bool  // only archived ones; else only those that are not
	Before   int64 // only those whose last_seq is smaller, or equal with a smaller id
	BeforeID string
	Limit    int
}

// IdleFilter selects conversations nobody has touched.
type IdleFilter struct {
	Kinds   []parley.ConversationKind
	Since   time.Time
	Settled bool // only those without an open delivery
	Limit   int
}

// ConversationStore keeps conversations. A buried conversation is not found by any method but Purge.
type ConversationStore interface {
	ConversationTable
	ConversationNames
	ConversationLists
	ConversationRemoval
}

// ConversationTable holds the rows of conversations. Every package of the hub finds conversations; only conversations writes them.
type ConversationTable interface {
	// Find returns the conversation with this id or name; of several with one name, the one that has had it longest.
	// ErrNotFound if there is none.
	Find(idOrName string) (parley.Conversation, error)
	// Insert adds a conversation. ErrTaken if its name is in use, or its set by a DM or group.
	Insert(parley.Conversation) error
	// Update replaces the conversation with the same id; its id, kind and set stay.
	// ErrNotFound if there is none, ErrTaken if its name is in use.
	Update(parley.Conversation) error
}

// ConversationNames finds conversations by name, display name or set of members.
type ConversationNames interface {
	// Named returns all conversations with a name, by their NameRank, or an empty list.
	WithName(name string) ([]parley.Conversation, error)
	// Displayed returns conversations whose display name folds to the same as name: those that an agent takes part in, then the
	// public channels, and with all the rest too. Within that the oldest come first, at most limit, or an empty list. ErrNotFound
	// if there is no such agent.
	WithDisplayName(name, agent string, all bool, limit int) ([]parley.Conversation, error)
	// FindSet returns the DM or implicit group of a set of members, never an ephemeral conversation.
	// ErrNotFound if there is none.
	FindSet(set string) (parley.Conversation, error)
	// OfSet returns conversations with exactly this set of members, ephemeral ones included, that with the newest message
	// first, at most limit, or an empty list. It finds a DM or implicit group of any age, and looks for ephemeral conversations
	// among the newest 10,000 conversations of one of the members. ErrNotFound if one of the members does not exist.
	WithSet(set string, limit int) ([]parley.Conversation, error)
}

// ConversationLists lists and counts conversations.
type ConversationLists interface {
	// List returns conversations, that with the newest message first, or an empty list.
	List(ConversationFilter) ([]parley.Conversation, error)
	// Scan returns conversations with an id greater than after, by id, at most limit, or an empty list. ErrNotFound if after is
	// neither empty nor an id.
	Scan(after string, limit int) ([]parley.Conversation, error)
	// Idle returns the ids of conversations of some kinds that are not archived and have not changed since a time, in any order, or an
	// empty list.
	Idle(IdleFilter) ([]string, error)
	// Made counts the channels and groups that a participant has made and that are not archived. ErrNotFound if there is no such
	// participant.
	CountMade(agent string) (int, error)
}

// ConversationRemoval removes conversations. channels buries them; archive erases their rows later.
type ConversationRemoval interface {
	// Bury hides a conversation from every other method, frees its name and set, and takes its open
	// deliveries out of the inboxes.
	// ErrNotFound if there is none.
	Delete(id string) error
	// Purge erases up to limit rows of buried conversations, references to artifacts among them, and returns how many it erased: 0
	// when nothing is left. What the search index has of their messages is erased with them, and is not counted. Of runs, the cost and
	// the task are kept. Tasks and approvals are kept.
	Purge(limit int) (int, error)
}

// MemberStore keeps who takes part in what, and how far each has read.
type MemberStore interface {
	// Get returns one member of one conversation. ErrNotFound if it is none.
	Get(conversation, agent string) (parley.Member, error)
	// List returns the members of a conversation in the order in which they joined. ErrNotFound if
	// there is no such conversation.
	List(conversation string) ([]parley.Member, error)
	// Put adds a member, or replaces what is known of it. ErrNotFound if there is no such
	// conversation or agent.
	Put(parley.Member) error
	// Remove takes a member out. ErrNotFound if it is none.
	Remove(conversation, agent string) error
	// Unread counts the messages of others after what the member has read, to at most limit.
	// ErrNotFound if there is no such conversation or agent.
	Unread(m parley.Member, limit int) (int, error)
}

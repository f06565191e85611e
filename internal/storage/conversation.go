package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// ConversationFilter selects conversations.
type ConversationFilter struct {
	Member   string // only conversations of this agent
	Reader   string // only conversations of this agent, and public channels
	Kinds    []parley.ConversationKind
	Archived bool  // true: only archived conversations. false: only others
	Before   int64 // only conversations with a smaller last_seq, or with the same last_seq and an id smaller than BeforeID
	BeforeID string
	Limit    int
}

// IdleFilter selects conversations that have not changed for some time.
type IdleFilter struct {
	Kinds   []parley.ConversationKind
	Since   time.Time // only conversations that have not changed since then
	Settled bool      // only conversations without an open delivery
	Limit   int
}

// ConversationStore keeps conversations. Only Purge finds a deleted conversation.
type ConversationStore interface {
	ConversationTable
	ConversationNames
	ConversationLists
	ConversationRemoval
}

// ConversationTable holds the rows of conversations. Every package of the hub finds conversations; only the package conversations
// writes them.
type ConversationTable interface {
	// Find returns the conversation with this id or name. If several have the name, it returns the one that has had the name
	// longest. It returns ErrNotFound if there is none.
	Find(idOrName string) (parley.Conversation, error)
	// Insert adds a conversation. It returns ErrTaken if its name is in use, or if a DM or group has the same set of members.
	Insert(parley.Conversation) error
	// Put replaces the conversation with the same id. The id, kind and set do not change. It returns ErrNotFound if there is
	// no such conversation, and ErrTaken if another conversation has the name.
	Put(parley.Conversation) error
}

// ConversationNames finds conversations by name, display name or set of members.
type ConversationNames interface {
	// WithName returns all conversations with a name, in the order of their NameRank, or an empty list.
	WithName(name string) ([]parley.Conversation, error)
	// WithDisplayName returns conversations whose display name folds to the same as name, at most limit, or an empty list. The
	// conversations of the agent come first, then public channels. If all is true, it also returns the other conversations. Older
	// conversations come before newer ones. It returns ErrNotFound if there is no such agent.
	WithDisplayName(name, agent string, all bool, limit int) ([]parley.Conversation, error)
	// FindSet returns the DM or implicit group of a set of members, never an ephemeral conversation. It returns ErrNotFound if
	// there is none.
	FindSet(set string) (parley.Conversation, error)
	// WithSet returns conversations with exactly this set of members, including ephemeral conversations, at most limit, or an
	// empty list. The conversation with the newest message comes first. It finds a DM or implicit group of any age, and looks for
	// ephemeral conversations among the newest 10,000 conversations of one of the members. It returns ErrNotFound if one of the
	// members does not exist.
	WithSet(set string, limit int) ([]parley.Conversation, error)
}

// ConversationLists lists and counts conversations.
type ConversationLists interface {
	// List returns conversations, or an empty list. The conversation with the newest message comes first. It returns ErrNotFound
	// if an agent of the filter does not exist, or if BeforeID is not an id.
	List(ConversationFilter) ([]parley.Conversation, error)
	// Scan returns conversations with an id greater than after, in the order of their ids, at most limit, or an empty list. It
	// returns ErrNotFound if after is neither empty nor an id.
	Scan(after string, limit int) ([]parley.Conversation, error)
	// Idle returns the ids of the selected conversations that are not archived, in any order, or an empty list.
	Idle(IdleFilter) ([]string, error)
	// CountMade counts the channels and groups that a participant has made and that are not archived. It returns ErrNotFound if
	// there is no such participant.
	CountMade(agent string) (int, error)
}

// ConversationRemoval removes conversations. The package channels deletes conversations; archive erases their rows later.
type ConversationRemoval interface {
	// Delete marks a conversation as deleted. From then on no other method but Purge finds the conversation, its name and set are
	// free, and its open deliveries no longer count in the inboxes. It returns ErrNotFound if there is no such conversation.
	Delete(id string) error
	// Purge erases up to limit rows of deleted conversations, including references to artifacts, and returns how many it erased:
	// 0 when nothing is left. It also removes their messages from the search index, and does not count that. It keeps the cost
	// and the task of runs, and it keeps tasks and approvals.
	Purge(limit int) (int, error)
}

// MemberStore keeps the members of conversations, and how far each member has read.
type MemberStore interface {
	// Get returns one member of one conversation. It returns ErrNotFound if the agent is not a member.
	Get(conversation, agent string) (parley.Member, error)
	// List returns the members of a conversation in the order in which they joined. It returns ErrNotFound if there is no such
	// conversation.
	List(conversation string) ([]parley.Member, error)
	// Put adds a member, or replaces the row of the member. It returns ErrNotFound if there is no such conversation or agent.
	Put(parley.Member) error
	// Remove removes a member from a conversation. It returns ErrNotFound if the agent is not a member.
	Remove(conversation, agent string) error
	// Unread counts the messages of other participants that the member has not read, up to limit. It returns ErrNotFound if there
	// is no such conversation or agent.
	Unread(m parley.Member, limit int) (int, error)
}

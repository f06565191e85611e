package parley

import (
	"slices"
	"strings"
	"time"
)

// ConversationKind is the kind of a conversation. It determines how participants name, find and join the conversation.
type ConversationKind string

// The kinds of conversation.
const (
	Channel   ConversationKind = "channel"   // has a unique name; its members can change
	Group     ConversationKind = "group"     // several members; without a name, it is the only group of these members
	DM        ConversationKind = "dm"        // the only direct conversation of two participants
	Ephemeral ConversationKind = "ephemeral" // for one question between two participants
)

// Visibility determines which participants may read a conversation without being members.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// Conversation is a channel, a group, a direct conversation or an ephemeral one. Every message belongs to one conversation.
type Conversation struct {
	ID   string `json:"id" doc:"The id."`
	Name string `json:"name,omitempty" doc:"Its name, without #; a DM has none."`
	// DisplayName is the name that people see, if it says more than Name: "Project X". A participant has chosen it.
	DisplayName string           `json:"display_name,omitempty" doc:"The name that people see, if it says more than the name."`
	Kind        ConversationKind `json:"kind" doc:"channel, group, dm or ephemeral."`
	Visibility  Visibility       `json:"visibility" doc:"Who may read it without being a member: everybody or nobody."`
	Topic       string           `json:"topic,omitempty" doc:"What the conversation is about."`
	// Answers defaults to parallel.
	Answers    Answers    `json:"answers,omitempty" doc:"Who answers when one message wakes several agents: parallel (all at once), round-robin (one after the other) or first (the first answer counts)."`
	CreatedBy  string     `json:"created_by" doc:"The participant that created it."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt  time.Time  `json:"updated_at" doc:"When it was last changed."`
	ArchivedAt *time.Time `json:"archived_at,omitempty" doc:"When it was hidden from lists."`
	Messages   int64      `json:"messages" doc:"How many messages it has."`
	LastSeq    int64      `json:"last_seq" doc:"The seq of its newest message."`
	// Set is the key of the members (see MemberSetKey) if they are fixed: in a direct or ephemeral conversation and in an unnamed group.
	Set string `json:"-"`
	// NameRank is the conversation's position among those with the same name. Only members may learn it.
	NameRank int `json:"-"`
}

// FixedMembers reports whether the members cannot change.
func (c Conversation) FixedMembers() bool { return c.Set != "" }

// FixedMemberIDs returns the members of a conversation with fixed members, or nil.
func (c Conversation) FixedMemberIDs() []string {
	if c.Set == "" {
		return nil
	}
	return strings.Split(c.Set, ",")
}

// ReadableByAll reports whether every participant of the hub may read the conversation.
func (c Conversation) ReadableByAll() bool { return c.Kind == Channel && c.Visibility == Public }

// Title returns the name by which lists show the conversation to people.
func (c Conversation) Title() string {
	if c.Name == "" {
		return string(c.Kind) + " " + c.ID
	}
	return "#" + c.Name
}

// MemberSetKey returns the key of a set of agent ids: the ids in order, each once, with commas between them. No id contains a comma.
func MemberSetKey(ids []string) string {
	set := slices.Clone(ids)
	slices.Sort(set)
	return strings.Join(slices.Compact(set), ",")
}

// Member says that a participant is a member of a conversation, and how far it has read.
type Member struct {
	Conversation string    `json:"conversation"`
	Agent        string    `json:"agent"`
	JoinedAt     time.Time `json:"joined_at"`
	ReadSeq      int64     `json:"read_seq"`
}

// CheckTopic returns why a text cannot be a topic, or nil.
func CheckTopic(topic string) error { return checkText("topic", topic, 4<<10) }

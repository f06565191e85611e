package parley

import (
	"slices"
	"strings"
	"time"
)

// ConversationKind says how a conversation is named, found and joined.
type ConversationKind string

// The kinds of conversation.
const (
	Channel   ConversationKind = "channel"   // named, membership open
	Group     ConversationKind = "group"     // several; without a name it is the one group of its set
	DM        ConversationKind = "dm"        // the one conversation of a pair
	Ephemeral ConversationKind = "ephemeral" // one question between two
)

// Visibility says who may read a conversation without taking part in it.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// Conversation is where messages live.
type Conversation struct {
	ID   string `json:"id" doc:"The id."`
	Name string `json:"name,omitempty" doc:"Its name, without #; a DM has none."`
	// DisplayName is what people call it, where that is more than its name: "Project X". Whoever made or renamed it wrote this.
	DisplayName string           `json:"display_name,omitempty" doc:"The name that people see, if it says more than the name."`
	Kind        ConversationKind `json:"kind" doc:"channel, group, dm or ephemeral."`
	Visibility  Visibility       `json:"visibility" doc:"Who may read it without being a member: everybody or nobody."`
	Topic       string           `json:"topic,omitempty" doc:"What the conversation is about."`
	// Answers is parallel where nothing is said.
	Answers    Answers    `json:"answers,omitempty" doc:"Who answers when one message wakes several agents: parallel (all at once), round-robin (one after the other) or first (the first answer counts)."`
	CreatedBy  string     `json:"created_by" doc:"The participant that created it."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt  time.Time  `json:"updated_at" doc:"When it was last changed."`
	ArchivedAt *time.Time `json:"archived_at,omitempty" doc:"When it was hidden from lists."`
	Messages   int64      `json:"messages" doc:"How many messages it has."`
	LastSeq    int64      `json:"last_seq" doc:"The seq of its newest message."`
	// Set is the key of the members where these are fixed: of a DM, an implicit group, an ephemeral.
	Set string `json:"-"`
	// NameRank is the conversation's place among those with the same name. Strangers must not learn it.
	NameRank int `json:"-"`
}

// FixedMembers says that nobody can join, leave, be added or removed.
func (c Conversation) FixedMembers() bool { return c.Set != "" }

// SetMembers are the members of a conversation in which they are fixed.
func (c Conversation) SetMembers() []string {
	if c.Set == "" {
		return nil
	}
	return strings.Split(c.Set, ",")
}

// ReadableByAll says that every participant of the hub may read it.
func (c Conversation) ReadableByAll() bool { return c.Kind == Channel && c.Visibility == Public }

// Title is what a person would call the conversation.
func (c Conversation) Title() string {
	if c.Name == "" {
		return string(c.Kind) + " " + c.ID
	}
	return "#" + c.Name
}

// SetKey is the key of a set of agent ids: the same for every order and repetition. No id
// contains a comma.
func SetKey(ids []string) string {
	set := slices.Clone(ids)
	slices.Sort(set)
	return strings.Join(slices.Compact(set), ",")
}

// Member is one participant of one conversation, with how far it has read.
type Member struct {
	Conversation string    `json:"conversation"`
	Agent        string    `json:"agent"`
	JoinedAt     time.Time `json:"joined_at"`
	ReadSeq      int64     `json:"read_seq"`
}

// CheckTopic says why a text cannot be a topic, or nil.
func CheckTopic(topic string) error { return checkText("topic", topic, 4<<10) }

package parley

import "time"

// NewAgent describes a participant to add.
type NewAgent struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"` // default: the id
	Kind   Kind   `json:"kind,omitempty"` // default: agent
	Access Access `json:"access,omitempty"`
	// Reuse takes the id and name from a removed agent that has them. The new agent inherits nothing else from it.
	Reuse bool `json:"reuse,omitempty"`
	Profile
}

// NewConversation describes a channel or a named group to make.
type NewConversation struct {
	Name string `json:"name"` // what people type, like "Project X", becomes the name project-x and the display name
	// DisplayName is what people call it, where it is not to come from the name.
	DisplayName string `json:"display_name,omitempty"`

	With    []string `json:"with,omitempty"`
	Group   bool     `json:"group,omitempty"` // a private group instead of a channel
	Private bool     `json:"private,omitempty"`
	Topic   string   `json:"topic,omitempty"`
	Answers Answers  `json:"answers,omitempty"` // who answers when several are woken; default: parallel
}

// ConversationChange is what may be changed of a conversation. What is nil stays.
type ConversationChange struct {
	Name *string `json:"name,omitempty"` // a new name is a new display name too: what people type becomes both
	// DisplayName is what people call it; empty: by its name.
	DisplayName *string `json:"display_name,omitempty"`

	Topic    *string  `json:"topic,omitempty"`
	Archived *bool    `json:"archived,omitempty"`
	Answers  *Answers `json:"answers,omitempty"`
}

// ConversationView is a conversation as one participant sees it.
type ConversationView struct {
	Conversation
	Members []string `json:"members"`
	Joined  bool     `json:"joined"`
	ReadSeq int64    `json:"read_seq"`
	Unread  int      `json:"unread"` // at most hub.MaxUnread
}

// ListFilter selects conversations for a list.
type ListFilter struct {
	All       bool // also those the caller only may read
	Archived  bool
	Ephemeral bool // also ephemeral ones
	Limit     int
	Cursor    *ListCursor
}

// ListCursor is where a list of conversations goes on.
type ListCursor struct {
	LastSeq int64
	ID      string
}

// Receipt is what the sender of a message is told.
type Receipt struct {
	Message    Message    `json:"message"`
	Deliveries []Delivery `json:"deliveries,omitempty"`
	Notices    []string   `json:"notices,omitempty"`
	Duplicate  bool       `json:"duplicate,omitempty"` // the key was used before; this is the first message

	// Asker is the participant whose ask this message replies to. It gets the answer by its ask instead of a delivery; a
	// notice says how.
	Asker string `json:"asker,omitempty"`

	// UnknownMentions are the names that the text mentions and no participant has. A notice names each, with the nearest names.
	UnknownMentions []string `json:"unknown_mentions,omitempty"`
}

// Shown is a message with what has become of it.
type Shown struct {
	Message
	Deliveries []Delivery `json:"deliveries,omitempty"`
	Ask        *AskState  `json:"ask,omitempty"` // in a trace: of a question whose asker waits or has waited
}

// Traced is what belongs to a trace, as far as its reader may see it: messages by seq, with what has become of them, and
// the runs they have woken, by their ids.
type Traced struct {
	Items []Shown   `json:"items"`
	Runs  []RunView `json:"runs,omitempty"`
	Cut   bool      `json:"cut,omitempty"` // there are more messages than these, of which most are older
}

// Thread is a message with what answers it, directly or not, by seq.
type Thread struct {
	Items  []Message `json:"items"`
	Cut    bool      `json:"cut,omitempty"`    // there may be more messages than these
	Notice string    `json:"notice,omitempty"` // if it is cut: how to read the rest
}

// SearchRequest asks for messages.
type SearchRequest struct {
	Query  string // words, "phrases", from: in: to: type: before: after: is:unanswered task: trace:
	Limit  int
	Cursor *SearchCursor
}

// SearchCursor is where a search goes on: among the messages with a smaller seq, after those already shown.
type SearchCursor struct {
	Below int64 `json:"below"`
	Skip  int   `json:"skip"`
}

// SearchResult is what was found, best first. The cursor leads to what else there is, or is nil: first to
// the rest of what was weighed together, then to older messages.
type SearchResult struct {
	Hits   []Hit         `json:"hits"`
	Next   *SearchCursor `json:"next,omitempty"`
	Behind bool          `json:"behind,omitempty"` // the caller's own last message cannot be found yet
}

// Hit is a message that was found, and the piece of it that shows why.
type Hit struct {
	Message      string    `json:"message"`
	Seq          int64     `json:"seq"`
	Conversation string    `json:"conversation"`
	From         string    `json:"from"`
	To           string    `json:"to,omitempty"`
	Type         Type      `json:"type"`
	Task         string    `json:"task,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	Snippet      Snippet   `json:"snippet"`
}

// Trouble is why something that was taken could not be done.
type Trouble struct {
	Failure Failure       `json:"failure"`
	Reason  string        `json:"reason,omitempty"`
	After   time.Duration `json:"-"` // not before this long from now
}

// Outcome is how the turn ended that a lease was taken for.
type Outcome struct {
	Answer  string   `json:"answer,omitempty"` // the message that answers all of it
	Trouble *Trouble `json:"trouble,omitempty"`
}

// Take says what to take, and how.
type Take struct {
	Limit      int           `json:"limit,omitempty"` // default 20
	Wait       time.Duration `json:"-"`               // how long to wait for something
	Lease      time.Duration `json:"-"`               // default 60 s
	AtMostOnce bool          `json:"at_most_once,omitempty"`
	Waking     bool          `json:"waking,omitempty"` // only what wakes
	Urgent     bool          `json:"urgent,omitempty"` // by priority, instead of in order; only what wakes
	Only       []string      `json:"only,omitempty"`   // only the deliveries of these messages
	Seen       bool          `json:"seen,omitempty"`   // the caller sees them with the answer
	Run        string        `json:"run,omitempty"`
}

// Taken is what was taken. Until its lease ends, nobody else gets it.
type Taken struct {
	Lease      string        `json:"lease,omitempty"`
	For        time.Duration `json:"-"`
	Deliveries []Delivery    `json:"deliveries"`
	Messages   []Message     `json:"messages"` // of each delivery
}

// Peeked is what is in an inbox. Looking consumes nothing.
type Peeked struct {
	Inbox
	More       int        `json:"more,omitempty"` // deliveries before the last one; only where the newest come first
	Deliveries []Delivery `json:"deliveries"`
	Messages   []Message  `json:"messages"` // of each delivery
}

// Snippet is the piece of a message that shows why it was found.
type Snippet struct {
	Field string   `json:"field"` // text, code, artifact or payload
	Text  string   `json:"text"`
	Marks [][2]int `json:"marks,omitempty"` // from, to: what matched, counted in characters of Text
	Cut   bool     `json:"cut,omitempty"`   // there is more of the field
}

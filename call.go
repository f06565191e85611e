package parley

import "time"

// NewAgent describes a participant to add.
type NewAgent struct {
	ID     string `json:"id" doc:"A short name: a-z, 0-9, _ and -, starting with a letter or digit."`
	Name   string `json:"name,omitempty" doc:"The display name; default: the id."`
	Kind   Kind   `json:"kind,omitempty" doc:"agent (the default) or human."`
	Access Access `json:"access,omitempty" doc:"What a person may do: an owner may do everything, a member may do what an agent may do."`
	// Reuse takes the id and name from a removed agent that has them. The new agent inherits nothing else from it.
	Reuse bool `json:"reuse,omitempty" doc:"Take the id and name from a removed agent that has them. The new agent inherits nothing else."`
	Profile
}

// NewConversation describes a channel or a named group to create.
type NewConversation struct {
	Name string `json:"name" doc:"The name: a-z, 0-9, _ and -. A name like \"Project X\" becomes the name project-x and the display name Project X."`
	// DisplayName is the name that people see, if it does not come from Name.
	DisplayName string `json:"display_name,omitempty" doc:"The name that people see, if it does not come from the name."`

	With    []string `json:"with,omitempty" doc:"The participants beside the caller."`
	Group   bool     `json:"group,omitempty" doc:"A private group instead of a channel."`
	Private bool     `json:"private,omitempty" doc:"Only its members may read it."`
	Topic   string   `json:"topic,omitempty" doc:"What the conversation is about."`
	// Answers defaults to parallel.
	Answers Answers `json:"answers,omitempty" doc:"Who answers when one message wakes several agents: parallel (all at once), round-robin (one after the other) or first (the first answer counts)."`
}

// ConversationChange is a change of a conversation. Nil fields stay unchanged.
type ConversationChange struct {
	Name *string `json:"name,omitempty" doc:"Another name. The creator and owners may change it. A name like \"Project X\" becomes the name project-x and the display name Project X."`
	// DisplayName is the name that people see. If it is empty, they see Name.
	DisplayName *string `json:"display_name,omitempty" doc:"The name that people see; empty: the name. The creator and owners may change it."`

	Topic    *string  `json:"topic,omitempty" doc:"The conversation's topic."`
	Archived *bool    `json:"archived,omitempty" doc:"Whether it is hidden from lists."`
	Answers  *Answers `json:"answers,omitempty" doc:"Who answers when one message wakes several agents: parallel (all at once), round-robin (one after the other) or first (the first answer counts)."`
}

// ConversationView is a conversation as one participant sees it.
type ConversationView struct {
	Conversation
	Members []string `json:"members" doc:"The members."`
	Joined  bool     `json:"joined" doc:"Whether the caller is a member."`
	ReadSeq int64    `json:"read_seq" doc:"How far the caller has read."`
	// Unread is at most 10,000.
	Unread int `json:"unread" doc:"How many messages the caller has not read, up to 10000."`
}

// ListFilter selects conversations for a list.
type ListFilter struct {
	All       bool // also conversations that the caller may read but is not a member of
	Archived  bool
	Ephemeral bool // also ephemeral ones
	Limit     int
	Cursor    *ListCursor
}

// ListCursor is the position at which a list of conversations continues.
type ListCursor struct {
	LastSeq int64
	ID      string
}

// Receipt is the result of posting a message.
type Receipt struct {
	Message    Message    `json:"message" doc:"The message as it is stored."`
	Deliveries []Delivery `json:"deliveries,omitempty" doc:"The delivery of the message to each recipient."`
	Notices    []string   `json:"notices,omitempty" doc:"What the sender should know."`
	Duplicate  bool       `json:"duplicate,omitempty" doc:"The key was used before; this is the first message."`

	// Asker is the participant whose ask this message answers. It receives the answer through its ask instead of a delivery; a
	// notice says how.
	Asker string `json:"asker,omitempty" doc:"The participant whose ask this message answers. It receives the answer through its ask instead of a delivery; a notice says how."`

	// UnknownMentions are the names that the text mentions and no participant has. A notice names each, with the nearest names.
	UnknownMentions []string `json:"unknown_mentions,omitempty" doc:"The names that the text mentions and no participant has. A notice names each, with the nearest names."`
}

// Shown is a message with its deliveries.
type Shown struct {
	Message
	Deliveries []Delivery `json:"deliveries,omitempty" doc:"The delivery of the message to each recipient."`
	Ask        *AskState  `json:"ask,omitempty" doc:"In a trace, for a question that is an ask: the state of that ask."`

	Approval *TracedApproval `json:"approval,omitempty" doc:"In a trace, for a request for approval: what became of the approval."`
}

// TracedApproval says what became of an approval.
type TracedApproval struct {
	Name      string        `json:"name" doc:"Its short name."`
	State     ApprovalState `json:"state" doc:"pending, approved, executed, denied, expired or withdrawn."`
	DecidedBy string        `json:"decided_by,omitempty" doc:"The participant that decided."`
	DecidedAt *time.Time    `json:"decided_at,omitempty" doc:"When it was decided."`
}

// Traced is a trace, as far as its reader may see it. It has the messages by seq, with their deliveries, and the runs that these
// messages woke, by id.
type Traced struct {
	Items []Shown   `json:"items" doc:"The page."`
	Runs  []RunView `json:"runs,omitempty" doc:"The runs that the messages woke."`
	Cut   bool      `json:"cut,omitempty" doc:"The trace has more messages than these. Most of them are older."`
}

// Thread is a message with its direct and indirect answers, by seq.
type Thread struct {
	Items  []Message `json:"items" doc:"The page."`
	Cut    bool      `json:"cut,omitempty" doc:"The thread may have more messages than these."`
	Notice string    `json:"notice,omitempty" doc:"If the thread is cut: how to read the rest."`
}

// SearchRequest is a search for messages.
type SearchRequest struct {
	Query  string // words, "phrases", from: in: to: type: before: after: is:unanswered task: trace:
	Limit  int
	Cursor *SearchCursor
}

// SearchCursor is the position at which a search continues: among the messages below the seq Below, after the first Skip hits.
type SearchCursor struct {
	Below int64 `json:"below"`
	Skip  int   `json:"skip"`
}

// SearchResult is a page of hits, best first. Next continues the search; it is nil at the end. The next pages have first the rest
// of the messages that the hub ranked together with these, then older messages.
type SearchResult struct {
	Hits   []Hit         `json:"hits"`
	Next   *SearchCursor `json:"next,omitempty"`
	Behind bool          `json:"behind,omitempty"` // the caller's own last message is not in the index yet
}

// Hit is a message that a search found, and the part of it that matched.
type Hit struct {
	Message      string    `json:"message" doc:"The message's id."`
	Seq          int64     `json:"seq" doc:"The position in the hub's total order."`
	Conversation string    `json:"conversation" doc:"The conversation's id."`
	Channel      string    `json:"channel,omitempty" doc:"The conversation's name, if it has one."`
	From         string    `json:"from" doc:"The sender's id."`
	To           string    `json:"to,omitempty" doc:"The addressee: a participant, or all."`
	Type         Type      `json:"type" doc:"What the message is meant as: chat, request, response, notification, error, command, status, heartbeat, task, result, or a word of the sender's own."`
	Task         string    `json:"task,omitempty" doc:"The task it belongs to."`
	CreatedAt    time.Time `json:"created_at" doc:"When it was created."`
	Snippet      Snippet   `json:"snippet" doc:"The part of the message that matched."`
}

// Trouble says why an attempt at a delivery failed.
type Trouble struct {
	Failure Failure       `json:"failure"`
	Reason  string        `json:"reason,omitempty"`
	After   time.Duration `json:"-"` // the shortest pause before the next attempt
}

// Outcome says how the work on the deliveries of a lease ended.
type Outcome struct {
	Answer  string   `json:"answer,omitempty"` // the message that answers every delivery of the lease
	Trouble *Trouble `json:"trouble,omitempty"`
}

// Take selects the deliveries to take, and how to take them.
type Take struct {
	Limit      int           `json:"limit,omitempty"` // default 20
	Wait       time.Duration `json:"-"`               // how long to wait for a delivery
	Lease      time.Duration `json:"-"`               // default 60 s
	AtMostOnce bool          `json:"at_most_once,omitempty"`
	Waking     bool          `json:"waking,omitempty"` // only deliveries that wake
	Urgent     bool          `json:"urgent,omitempty"` // by priority instead of in order, and only deliveries that wake
	Only       []string      `json:"only,omitempty"`   // only the deliveries of these messages
	Seen       bool          `json:"seen,omitempty"`   // mark the deliveries as seen at once
	Run        string        `json:"run,omitempty"`

	// Session is the key of a live client session of the caller. The hub extends the lease while the session lives, and returns what
	// it holds when it ends. Lease is ignored then.
	Session string `json:"session,omitempty"`
	// Again repeats a take of the session whose answer was lost: the result also has what the session took and has not marked as
	// seen.
	Again bool `json:"again,omitempty"`
}

// Taken is the result of a take. Until the lease ends, the hub gives these deliveries to no other caller.
type Taken struct {
	Lease      string        `json:"lease,omitempty"`
	For        time.Duration `json:"-"`
	ForAsks    time.Duration `json:"-"` // the shortest lease of an ask, which is delivered once; 0: there is none
	Attempts   int           `json:"-"` // how often the hub delivers each of the others; 0: unknown
	Deliveries []Delivery    `json:"deliveries"`
	Messages   []Message     `json:"messages"` // the message of each delivery, in the same order
	Answered   ShortNames    `json:"answered,omitempty"`
}

// Peeked is the contents of an inbox. Reading an inbox consumes nothing.
type Peeked struct {
	Inbox
	More       int        `json:"more,omitempty" doc:"How many older deliveries follow; only with newest."`
	Deliveries []Delivery `json:"deliveries" doc:"The deliveries in the inbox."`
	Messages   []Message  `json:"messages" doc:"The message of each delivery, in the same order."`
	Answered   ShortNames `json:"answered,omitempty" doc:"The short names of the messages that these answer, by id, as far as they are known."`
}

// Snippet is the part of a message that a search matched.
type Snippet struct {
	Field string   `json:"field" doc:"text, code, artifact or payload."`
	Text  string   `json:"text" doc:"The text of the part."`
	Marks [][2]int `json:"marks,omitempty" doc:"The start and end of each match, in characters."`
	Cut   bool     `json:"cut,omitempty" doc:"The field has more text than this."`
}

package storage

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

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

	// Blobs are the bodies of artifacts, which are in no transaction.
	Blobs() Blobs
}

// Disk is what a store may know of the disk it is on.
type Disk interface {
	// Space returns the bytes that are free for it, and those there are in all. errors.ErrUnsupported if
	// they cannot be known.
	Space() (free, total int64, err error)
}

// Tx gives access to the stored rows within one transaction, with one interface for each table.
type Tx interface {
	ParticipantTables
	ConversationTables
	DeliveryTables
	WorkTables
	BridgeTables
	HistoryTables
	ReadLimits
}

// ParticipantTables hold agents and what they may do.
type ParticipantTables interface {
	Agents() AgentStore
	Tokens() TokenStore
	Permissions() PermissionStore
}

// ConversationTables hold conversations, their messages, and the ways to find them.
type ConversationTables interface {
	Conversations() ConversationStore
	Members() MemberStore
	Messages() MessageStore
	Artifacts() ArtifactStore
	Search() SearchStore
	Names() NameStore
}

// DeliveryTables hold deliveries and the agents that wait for each other.
type DeliveryTables interface {
	Deliveries() DeliveryStore
	Queue() QueueStore
	Waits() WaitStore
	Loops() LoopStore
}

// WorkTables hold runs, tasks, approvals and the notices about them.
type WorkTables interface {
	Runs() RunStore
	Tasks() TaskStore
	Approvals() ApprovalStore
	Notices() NoticeStore
}

// BridgeTables hold bridges, and how far the readers of the event log have come.
type BridgeTables interface {
	Bridges() BridgeStore
	Cursors() CursorStore
}

// HistoryTables hold the logs, and the numbers that retention and checks use.
type HistoryTables interface {
	Log() LogStore
	Retention() RetentionStore
	Counts() CountStore
}

// ReadLimits change how the reads of one transaction behave.
type ReadLimits interface {
	// Bound limits how many bytes of messages, deliveries, tasks, approvals and runs this transaction reads from here on.
	// A read beyond that fails with E003 and the reason too_large, and so do all later reads.
	Bound(bytes int64)
	// LeaveOut makes the reads of this transaction leave out a row of a task, run or approval that cannot be read, until strict is
	// called. They note the row as damaged and call tell, unless it is nil, perhaps several times. Other reads fail at such a row.
	LeaveOut(tell func(parley.Damage)) (strict func())
}

// AgentStore keeps agents. They are never deleted: a removed agent keeps its names until Retire.
type AgentStore interface {
	AgentTable
	AgentHealth
}

// AgentTable holds the rows of agents.
type AgentTable interface {
	// Find returns the agent whose id, uuid or name folds to the same as name. ErrNotFound if there is none.
	Find(name string) (parley.Agent, error)
	// List returns all agents in the order in which they were added, removed ones included.
	List() ([]parley.Agent, error)
	// Names returns the ids and names of the agents that are not removed, without the hub itself.
	Names() ([]string, error)
	// HasReports reports whether the agent with this id is the manager of an agent that is not removed. The store caches the
	// answer until some agent changes.
	HasReports(id string) (bool, error)
	// Insert adds an agent. ErrTaken if its id, uuid or name belongs to another.
	Insert(parley.Agent) error
	// Update replaces the agent with the same id; its id, uuid and kind stay.
	// ErrNotFound if there is none, ErrTaken if its new name belongs to another.
	Update(parley.Agent) error
	// Retire gives the agent with this id another id and name, also in the sets of members of its conversations; its uuid and
	// everything that it has stay its own. Mentions in stored messages keep the id they were posted with. ErrNotFound if there is
	// no such agent, ErrTaken if the new id or name belongs to another.
	Retire(id, newID, newName string) error
}

// AgentHealth holds the health that agents report.
type AgentHealth interface {
	// KeepHealth replaces the health that an agent reports. ErrNotFound if there is no such agent.
	KeepHealth(id string, h parley.Health) error
	// Health returns the health that an agent has reported. ErrNotFound if there is no such agent, or it has reported none.
	Health(id string) (parley.Health, error)
	// Healths returns the health of each agent that has reported any, by its id.
	Healths() (map[string]parley.Health, error)
}

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
	Named(name string) ([]parley.Conversation, error)
	// Displayed returns conversations whose display name folds to the same as name: those that an agent takes part in, then the
	// public channels, and with all the rest too. Within that the oldest come first, at most limit, or an empty list. ErrNotFound
	// if there is no such agent.
	Displayed(name, agent string, all bool, limit int) ([]parley.Conversation, error)
	// FindSet returns the DM or implicit group of a set of members, never an ephemeral conversation.
	// ErrNotFound if there is none.
	FindSet(set string) (parley.Conversation, error)
	// OfSet returns conversations with exactly this set of members, ephemeral ones included, that with the newest message
	// first, at most limit, or an empty list. It finds a DM or implicit group of any age, and looks for ephemeral conversations
	// among the newest 10,000 conversations of one of the members. ErrNotFound if one of the members does not exist.
	OfSet(set string, limit int) ([]parley.Conversation, error)
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
	Made(agent string) (int, error)
}

// ConversationRemoval removes conversations. channels buries them; archive erases their rows later.
type ConversationRemoval interface {
	// Bury hides a conversation from every other method, frees its name and set, and takes its open
	// deliveries out of the inboxes.
	// ErrNotFound if there is none.
	Bury(id string) error
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
	Key(sender, key, task string, at time.Time) error
	// Keyed returns the id of the message or task that a sender gave this idempotency key after since. ErrNotFound if there is none.
	Keyed(sender, key string, since time.Time) (id string, err error)
	// ForgetKeys drops up to limit idempotency keys from before a time and returns how many it dropped.
	ForgetKeys(before time.Time, limit int) (int, error)
}

// DeliveryStore keeps deliveries. No method finds deliveries of buried conversations.
type DeliveryStore interface {
	DeliveryTable
	DeliveryLists
	PairNumbers
}

// DeliveryTable holds the rows of deliveries. Only the package deliveries writes them.
type DeliveryTable interface {
	// Insert adds deliveries of one message, which must be stored, and returns them.
	// ErrTaken if one exists already, ErrNotFound if the message does not exist.
	Insert(m parley.Message, to []parley.Reach) ([]parley.Delivery, error)
	// Get returns one delivery and keeps others from changing it until the end of the update.
	// ErrNotFound if there is none.
	Get(message, recipient string) (parley.Delivery, error)
	// GetAll is Get for several messages: it returns those that exist, by seq.
	GetAll(recipient string, messages []string) ([]parley.Delivery, error)
	// Put replaces a delivery. If the stored delivery differs from before, the whole update fails with ErrNotFound, at once
	// or later.
	Put(before, after parley.Delivery) error
}

// DeliveryLists reads the deliveries of a message or a conversation.
type DeliveryLists interface {
	// Of returns the deliveries of a message in the order of their recipients' age, or an empty list.
	Of(message string) ([]parley.Delivery, error)
	// Open reports whether a conversation has an open delivery. ErrNotFound if there is no such conversation.
	Open(conversation string) (bool, error)
	// Between returns the deliveries to a recipient of messages in a conversation with a seq greater
	// than after and at most upTo, in order, at most limit.
	Between(conversation, recipient string, after, upTo int64, limit int) ([]parley.Delivery, error)
}

// PairNumbers holds the number of the last message from each sender to each recipient.
type PairNumbers interface {
	// Pair returns the last pair_seq from a sender to a recipient, or 0.
	Pair(sender, recipient string) (int64, error)
	// Count sets the pair_seq from a sender to a recipient to n, for a message that reaches the recipient without a delivery.
	Count(sender, recipient string, n int64) error
}

// Queue selects pending deliveries.
type Queue struct {
	Recipient string
	Wakes     bool           // those that wake; else those that do not
	Paused    bool           // those that pause before another attempt; else those that can be taken
	Urgent    bool           // by priority, asks first, then by seq; else by seq. Only for those that wake
	Purpose   parley.Purpose // only those with this purpose
	Plain     bool           // only those without any
	In        string         // only those in this conversation. ErrNotFound if there is none
	NotIn     []string       // only those in none of these, by their ids
	From      string         // only those of messages from this sender. ErrNotFound if there is none
	After     int64          // only those of messages with a larger seq
	Limit     int
}

// InboxPage selects a part of an inbox.
type InboxPage struct {
	Recipient string
	Wanted    bool  // only those that wake and that the recipient must act on: see Delivery.Wanted
	Before    int64 // only those of messages with a smaller seq; 0: from the newest
	Limit     int
}

// SenderCount is how many deliveries of one sender wait in an inbox, and the seq of its oldest message there.
type SenderCount struct {
	Sender string
	Count  int
	Oldest int64
}

// QueueStore finds open deliveries and counts them. A delivery that it returns in an update is locked for others until the end of
// the update; a delivery that another update has locked is left out. Lists are empty when nothing is found, and for a recipient
// that does not exist.
type QueueStore interface {
	ReadyDeliveries
	LeasedDeliveries
	InboxCounts
	RelatedDeliveries
	EndingDeliveries
	QueueChecks
}

// ReadyDeliveries finds deliveries that an agent can take. turns hands them to runs; inbox to agents that poll.
type ReadyDeliveries interface {
	// Now returns the current moment on the store's lease clock.
	Now() (parley.Tick, error)
	// Ready returns deliveries that are not leased.
	Ready(Queue) ([]parley.Delivery, error)
	// Senders counts the deliveries without a purpose that are not leased, by sender, in no order. Of the queue it reads
	// Recipient, Wakes and Paused.
	Senders(Queue) ([]SenderCount, error)
	// Waiting returns the ids of agents that have ready deliveries which wake, at most limit, without people and removed
	// agents. Agents without such deliveries cost nothing.
	Waiting(limit int) ([]string, error)
}

// LeasedDeliveries finds deliveries that are leased or paused. turns ends their leases; inbox shows them.
type LeasedDeliveries interface {
	// Held returns the open deliveries of a recipient that are not ready, by seq after one, at most limit: those
	// that are leased, and those that pause before another attempt.
	Held(recipient string, after int64, limit int) ([]parley.Delivery, error)
	// Leased returns the deliveries of a lease, by seq.
	Leased(lease string) ([]parley.Delivery, error)
	// Lapsed returns deliveries whose lease or pause has ended by a moment, at most limit.
	Lapsed(now parley.Tick, limit int) ([]parley.Delivery, error)
	// Left returns the deliveries that the hub with this name has leased, by seq. A hub calls it before it gives its first lease, so
	// the leases are those of its former process.
	Left(node string) ([]parley.Delivery, error)
}

// InboxCounts counts and lists what is in inboxes, for feed, presence, reports and work.
type InboxCounts interface {
	// Newest returns the deliveries in an inbox, the newest message first: the open ones, and those that the recipient has
	// seen and must still act on.
	Newest(InboxPage) ([]parley.Delivery, error)
	// Inbox counts the open deliveries of a recipient. All counts are 0 if it has none.
	Inbox(recipient string) (parley.Inbox, error)
	// Inboxes counts the open deliveries of each recipient that has ever had a delivery, by its id.
	Inboxes() (map[string]parley.Inbox, error)
	// Asked counts the open asks to a recipient: those that are ready, paused or leased.
	Asked(recipient string) (int, error)
}

// RelatedDeliveries finds deliveries by their task or kind. work uses OfTask; messages coalesces heartbeats.
type RelatedDeliveries interface {
	// OfTask returns the open deliveries to a recipient that wake and whose messages belong to a task, by seq, at most
	// limit.
	OfTask(recipient, task string, limit int) ([]parley.Delivery, error)
	// Heartbeat returns the delivery of the newest heartbeat from a sender to a recipient.
	// ErrNotFound if there is none.
	Heartbeat(sender, recipient string) (parley.Delivery, error)
}

// EndingDeliveries finds deliveries that turns must end, and dead letters for inbox and feed.
type EndingDeliveries interface {
	// Due returns deliveries whose Next has come by a time, at most limit.
	Due(now time.Time, limit int) ([]parley.Delivery, error)
	// Dead returns dead letters after a message's seq, by seq: at most limit, and then the remaining ones of the last message.
	Dead(after int64, limit int) ([]parley.Delivery, error)
	// Orphaned returns the ids of removed agents that have open deliveries.
	Orphaned() ([]string, error)
}

// QueueChecks verifies the rows of open deliveries, for upkeep.
type QueueChecks interface {
	// DamagedWork verifies the deliveries of all messages whose outcome somebody needs: the requests of open asks and open tasks, and
	// the callbacks of tasks under open ones. It returns what is wrong with the deliveries that have not ended.
	DamagedWork() ([]parley.Damage, error)
	// DamagedQuiet verifies up to limit deliveries after a mark that wake no agent and that are not leased. It returns what is wrong
	// with them, and the mark of the last one, or the zero mark if there was none.
	DamagedQuiet(after QuietMark, limit int) (found []parley.Damage, last QuietMark, err error)
}

// QuietMark is how far DamagedQuiet has come: the number of a recipient, and the seq of a message for it.
type QuietMark struct{ Agent, Place int64 }

// SearchStore keeps the search index. It is filled apart from the messages, and follows them.
type SearchStore interface {
	// Mark returns how far the index has come.
	Mark() (IndexMark, error)
	// Index adds documents and moves the mark to upTo, which lies ahead, in one step. ErrTaken, and
	// nothing is written, if the mark is not from any more: another process has gone on, or something
	// was erased that the documents may still hold.
	Index(from IndexMark, upTo int64, docs []parley.Document) error
	// Forget erases what the index has of messages; what it does not have is no error. Their words are
	// found no more, and are gone from the disk once Scrub has nothing left to do.
	Forget(seqs ...int64) error
	// Scrub does a part of what remains of the work of Forget, and says whether there may be more.
	Scrub() (more bool, err error)
	// Match returns messages of conversations that are not buried, the newest first: as many as the
	// limit says, or fewer where they are large or where many that match are sorted out by the time, the
	// reader or the answer. ErrNotFound if an agent or the conversation does not exist.
	Match(SearchQuery) (Matches, error)
}

// TokenStore keeps credentials, each under the hash of its secret.
type TokenStore interface {
	// Insert adds a token. ErrTaken if its id or hash is in use, ErrNotFound if its holder or its maker does
	// not exist.
	Insert(parley.Token, parley.TokenHash) error
	// Find returns the token whose secret has this hash, good or not. ErrNotFound if there is none.
	Find(parley.TokenHash) (parley.Token, error)
	// Get returns the token with this id, good or not. ErrNotFound if there is none.
	Get(id string) (parley.Token, error)
	// List returns tokens by their ids, the newest first. Links are left out, and those of runs and approvals.
	List(parley.TokenFilter) ([]parley.Token, error)
	// Good counts the tokens, sessions and sign-in links of a participant that can be used at a time. ErrNotFound if there is
	// no such participant.
	Good(agent string, now time.Time) (int, error)
	// Put writes down when a token was revoked; nothing else of it changes. ErrNotFound if there is none.
	Put(parley.Token) error
	// Erase erases a token. ErrNotFound if there is none.
	Erase(id string) error
	// Forget erases up to limit tokens of a kind that were revoked, or else expired, before a time, and says
	// how many.
	Forget(kind parley.TokenKind, before time.Time, limit int) (int, error)
}

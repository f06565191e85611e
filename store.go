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

	// Blobs are the bodies of artifacts, which are in no transaction.
	Blobs() Blobs
}

// Disk is what a store may know of the disk it is on.
type Disk interface {
	// Space returns the bytes that are free for it, and those there are in all. errors.ErrUnsupported if
	// they cannot be known.
	Space() (free, total int64, err error)
}

// Tx gives access to what is stored, noun by noun, within one transaction.
type Tx interface {
	Agents() AgentStore
	Conversations() ConversationStore
	Members() MemberStore
	Messages() MessageStore
	Deliveries() DeliveryStore
	Queue() QueueStore
	Search() SearchStore
	Artifacts() ArtifactStore
	Tokens() TokenStore
	Runs() RunStore
	Loops() LoopStore
	Waits() WaitStore
	Tasks() TaskStore
	Permissions() PermissionStore
	Approvals() ApprovalStore
	Notices() NoticeStore
	Bridges() BridgeStore
	Cursors() CursorStore
	Log() LogStore
	Retention() RetentionStore
	Counts() CountStore
	// Bound limits how many bytes of messages, deliveries, tasks, approvals and runs this transaction reads from here on.
	// Whatever reads more fails with E003 and the reason too_large, and so does all that comes after it.
	Bound(bytes int64)
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
	// HasReports says whether the agent with this id is the manager of one that is not removed. Asking again
	// costs nothing until some agent changes.
	HasReports(id string) (bool, error)
	// KeepHealth replaces what an agent says of itself. ErrNotFound if there is no such agent.
	KeepHealth(id string, h Health) error
	// Health returns what an agent has said of itself. ErrNotFound if there is none, or it has said nothing.
	Health(id string) (Health, error)
	// Healths returns it for each that has said anything, by its id.
	Healths() (map[string]Health, error)
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
	Settled bool // only those without an open delivery
	Limit   int
}

// ConversationStore keeps conversations.
type ConversationStore interface {
	// Made counts the channels and groups that a participant has made and that are not archived. ErrNotFound if there is no
	// such participant.
	Made(agent string) (int, error)
	// Find returns the conversation with this id or name; of several with one name, the one that has had it longest.
	// ErrNotFound if there is none.
	Find(idOrName string) (Conversation, error)
	// Named returns all conversations with a name, by their NameRank; none if there is none.
	Named(name string) ([]Conversation, error)
	// FindSet returns the DM or implicit group of a set of members, never an ephemeral conversation.
	// ErrNotFound if there is none.
	FindSet(set string) (Conversation, error)
	// List returns conversations by their newest message, newest first.
	List(ConversationFilter) ([]Conversation, error)
	// Scan returns conversations with an id greater than after, by id, at most limit. ErrNotFound if after
	// is not empty and no id.
	Scan(after string, limit int) ([]Conversation, error)
	// Idle returns the ids of conversations of some kinds that are not archived and have not changed
	// since a time, in any order.
	Idle(IdleFilter) ([]string, error)
	// Insert adds a conversation. ErrTaken if its name is in use, or its set by a DM or group.
	Insert(Conversation) error
	// Update replaces the conversation with the same id; its id, kind and set stay.
	// ErrNotFound if there is none, ErrTaken if its name is in use.
	Update(Conversation) error
	// Bury hides a conversation from every other method, frees its name and set, and takes its open
	// deliveries out of the inboxes.
	// ErrNotFound if there is none.
	Bury(id string) error
	// Purge erases up to limit rows of buried conversations, references to artifacts among them, and
	// says how many there were. What the search index has of their messages goes with them, and is not
	// counted. Of runs, what they have cost is left, and in which task. Tasks and approvals are left.
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

// MessageStore keeps messages. They never change, but for Redact.
type MessageStore interface {
	// NextSeq is the number that the next message or event of this update will have. Both are drawn
	// from one order, which rises by one and never repeats, whatever is deleted.
	NextSeq() (int64, error)
	// Insert adds a message whose Seq is NextSeq, and counts it in its conversation and for each stored
	// body it refers to. The message is its own event. ErrNotFound if its conversation, sender, recipient
	// or one of the bodies does not exist.
	Insert(Message) error
	// Get returns one message. ErrNotFound if there is none, or its conversation is gone.
	Get(id string) (Message, error)
	// GetAll returns those messages that there are, in order, or fewer, but at least one if there is
	// one, where they are large.
	GetAll(ids []string) ([]Message, error)
	// Sizes returns how many bytes the texts, codes, payloads and metadata of messages have, by their seqs.
	Sizes(seqs []int64) (map[int64]int, error)
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
	// Key notes that a sender has made a task, which no message has asked for, with an idempotency key. ErrNotFound if
	// there is no such sender, or what is named can be no task.
	Key(sender, key, task string, at time.Time) error
	// Keyed returns the id of the message a sender gave this idempotency key after since, or of the task.
	// ErrNotFound if there is none.
	Keyed(sender, key string, since time.Time) (id string, err error)
	// ForgetKeys drops up to limit idempotency keys from before a time and says how many.
	ForgetKeys(before time.Time, limit int) (int, error)
	// Redact puts what Message.Redacted has made of a message in its place, and drops its references to
	// artifacts. A body that nobody refers to any more is unused at once, whenever it was stored. The outputs
	// of runs that may repeat it are erased: of those it woke, of the one that posted it, and of those in its
	// conversation that had not ended before it. So are the title, reason, progress, result and the words of the
	// error of the tasks that it began, told the end of or is the result of; the arguments, summary, note and
	// result of the approvals of calls by runs that it woke, of the one whose outcome it told, and of all of its trace
	// that are decided; and what notices say of these approvals and of it. A call that is pending cannot be
	// made any more then: withdraw it first.
	Redact(Message) error
}

// Page is a part of a conversation: going forward, the first Limit messages after the seq After;
// else the last Limit ones before the seq Before (0: the newest).
type Page struct {
	Forward bool
	After   int64
	Before  int64
	Limit   int
}

// PageBytes is after how many bytes of what senders wrote a page ends, whatever its limit.
const PageBytes = 1 << 20

// Last says whether there is certainly nothing after what a page has returned: it has fewer messages than it may, and is so
// small that it was not cut for its size.
func (p Page) Last(list []Message) bool {
	size := 0
	for _, m := range list {
		size += len(m.Content.Text) + len(m.Content.Code) + len(m.Payload) + len(m.Metadata)
		for _, a := range m.Content.Artifacts {
			size += len(a.Name) + len(a.Path) + len(a.MediaType) + len(a.SHA256)
		}
	}
	return len(list) < p.Limit && size <= PageBytes/4
}

// DeliveryStore keeps deliveries. Those of deleted conversations are found by no method.
type DeliveryStore interface {
	// Insert adds deliveries of one message, which must be stored, and returns them.
	// ErrTaken if one exists already, ErrNotFound if the message does not exist.
	Insert(m Message, to []Reach) ([]Delivery, error)
	// Get returns one delivery and keeps others from changing it until the end of the update.
	// ErrNotFound if there is none.
	Get(message, recipient string) (Delivery, error)
	// GetAll is Get for several messages: those that there are, by seq.
	GetAll(recipient string, messages []string) ([]Delivery, error)
	// Put replaces a delivery by what it has become. If it is not any more what it was before, the
	// whole update fails with ErrNotFound, at once or later.
	Put(before, after Delivery) error
	// Of returns the deliveries of a message in the order of their recipients' age.
	Of(message string) ([]Delivery, error)
	// Open says whether a conversation has an open delivery. ErrNotFound if there is no such
	// conversation.
	Open(conversation string) (bool, error)
	// Between returns the deliveries to a recipient of messages in a conversation with a seq greater
	// than after and at most upTo, in order, at most limit.
	Between(conversation, recipient string, after, upTo int64, limit int) ([]Delivery, error)
	// Pair returns the pair_seq given last from a sender to a recipient, or 0.
	Pair(sender, recipient string) (int64, error)
	// Count has a sender's own count go on to n, by a message that reaches its recipient without a delivery.
	Count(sender, recipient string, n int64) error
}

// Queue selects deliveries that wait.
type Queue struct {
	Recipient string
	Wakes     bool     // those that wake; else those that do not
	Paused    bool     // those that pause before another try; else those that can be taken
	Urgent    bool     // by priority, asks first, then by seq; else by seq. Only for those that wake
	Purpose   Purpose  // only those with this purpose
	Plain     bool     // only those without any
	In        string   // only those in this conversation. ErrNotFound if there is none
	NotIn     []string // only those in none of these, by their ids
	From      string   // only those of messages from this sender. ErrNotFound if there is none
	After     int64    // only those of messages with a larger seq
	Limit     int
}

// SenderCount is how many deliveries of one sender wait in an inbox, and the seq of its oldest message there.
type SenderCount struct {
	Sender string
	Count  int
	Oldest int64
}

// QueueStore finds the deliveries that something is due for. What it returns in an update is kept from
// others until its end; what another has kept is left out.
type QueueStore interface {
	// Now is the moment on the store's lease clock.
	Now() (Tick, error)
	// Ready returns deliveries that nobody has.
	Ready(Queue) ([]Delivery, error)
	// Senders counts the deliveries without a purpose that nobody has, by sender, in no order. Of the queue it reads
	// Recipient, Wakes and Paused.
	Senders(Queue) ([]SenderCount, error)
	// Held returns the open deliveries of a recipient that are not ready, by seq after one, at most limit: those
	// that somebody has, and those that pause before another try.
	Held(recipient string, after int64, limit int) ([]Delivery, error)
	// Leased returns the deliveries of a lease, by seq.
	Leased(lease string) ([]Delivery, error)
	// Lapsed returns deliveries whose lease or pause is over by a moment, at most limit.
	Lapsed(now Tick, limit int) ([]Delivery, error)
	// Left returns the deliveries that the hub with this name has leased to somebody, by seq. A hub asks for them
	// before it gives its first lease: its former process gave all of these.
	Left(node string) ([]Delivery, error)
	// Due returns deliveries whose Next has come by a time, at most limit.
	Due(now time.Time, limit int) ([]Delivery, error)
	// Dead returns dead letters after a message's seq, by seq: at most limit, and the rest of the last
	// message's.
	Dead(after int64, limit int) ([]Delivery, error)
	// Heartbeat returns the delivery of the newest heartbeat from a sender to a recipient.
	// ErrNotFound if there is none.
	Heartbeat(sender, recipient string) (Delivery, error)
	// Inbox counts what is open for a recipient.
	Inbox(recipient string) (Inbox, error)
	// Inboxes counts what is open for each recipient that has ever had a delivery, by its id.
	Inboxes() (map[string]Inbox, error)
	// Waiting returns the ids of the agents, people left out and removed ones, that have deliveries which wake
	// and are ready, at most limit. It costs nothing for those that have none.
	Waiting(limit int) ([]string, error)
	// Asked counts the open asks to a recipient: those that are ready or pause, and those that somebody is at.
	Asked(recipient string) (int, error)
	// OfTask returns the open deliveries to a recipient that wake and whose messages belong to a task, by seq, at most
	// limit.
	OfTask(recipient, task string, limit int) ([]Delivery, error)
	// Orphaned returns the ids of removed agents that have open deliveries.
	Orphaned() ([]string, error)
}

// SearchStore keeps the search index. It is filled apart from the messages, and follows them.
type SearchStore interface {
	// Mark returns how far the index has come.
	Mark() (IndexMark, error)
	// Index adds documents and moves the mark to upTo, which lies ahead, in one step. ErrTaken, and
	// nothing is written, if the mark is not from any more: another process has gone on, or something
	// was erased that the documents may still hold.
	Index(from IndexMark, upTo int64, docs []Document) error
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
	Insert(Token, TokenHash) error
	// Find returns the token whose secret has this hash, good or not. ErrNotFound if there is none.
	Find(TokenHash) (Token, error)
	// Get returns the token with this id, good or not. ErrNotFound if there is none.
	Get(id string) (Token, error)
	// List returns tokens by their ids, the newest first. Links are left out, and those of runs and approvals.
	List(TokenFilter) ([]Token, error)
	// Good counts the tokens, sessions and sign-in links of a participant that can be used at a time. ErrNotFound if there is
	// no such participant.
	Good(agent string, now time.Time) (int, error)
	// Put writes down when a token was revoked; nothing else of it changes. ErrNotFound if there is none.
	Put(Token) error
	// Erase erases a token. ErrNotFound if there is none.
	Erase(id string) error
	// Forget erases up to limit tokens of a kind that were revoked, or else expired, before a time, and says
	// how many.
	Forget(kind TokenKind, before time.Time, limit int) (int, error)
}

// RunStore keeps runs, which messages woke them, and what they posted. Where a run is asked for by its id,
// it is ErrNotFound if there is none, or if its conversation is gone; so is an agent that does not exist.
type RunStore interface {
	// Insert adds a run with its triggers. ErrTaken if its id is in use, ErrNotFound if its agent or
	// conversation does not exist, or a trigger in it. Costs are kept to a billionth of a dollar.
	Insert(Run) error
	// Get returns one run and keeps others from changing it until the end of the update.
	Get(id string) (Run, error)
	// Put replaces the run with the same id; its agent, conversation, triggers and time of creation stay.
	Put(Run) error
	// Live returns the runs of an agent that have not ended, oldest first. Without an agent, those of all.
	Live(agent string) ([]Run, error)
	// Counts returns how many live runs each agent has that has any.
	Counts() (map[string]int, error)
	// List returns runs by their ids, the newest first. Of an agent or a conversation that does not exist
	// there are none.
	List(RunFilter) ([]Run, error)
	// WokenBy returns the runs of an agent that a message has woken, oldest first. Of a message that does not
	// exist there are none.
	WokenBy(message, agent string) ([]Run, error)
	// Posted notes what a run has posted. Noting the same message again changes nothing. ErrNotFound if the
	// message does not exist.
	Posted(run string, post RunPost) error
	// Posts returns what a run has posted, by seq.
	Posts(run string) ([]RunPost, error)
	// PostedBy returns the run that posted a message, of several the oldest. ErrNotFound if none did.
	PostedBy(message string) (Run, error)
	// Session returns the newest run of an agent in a conversation, without a task and for nobody who waits,
	// that ended well after a time and has a client's session. ErrNotFound if there is none, or no such
	// conversation.
	Session(agent, conversation string, since time.Time) (Run, error)
	// TaskSession returns the newest run of an agent in a task that ended well and has a client's session. ErrNotFound if
	// there is none.
	TaskSession(agent, task string) (Run, error)
	// InTask returns the live runs of a task, oldest first.
	InTask(task string) ([]Run, error)
	// Spent sums up what the runs of an agent that were made after a time have used, those in conversations
	// that are gone among them.
	Spent(agent string, since time.Time) (Spent, error)
	// KeepOutput replaces the output of a run; an empty one erases it. Output returns it, or nothing.
	KeepOutput(run string, output []byte) error
	Output(run string) ([]byte, error)
	// ForgetOutputs erases up to limit outputs of runs that ended before a time, and says how many.
	ForgetOutputs(before time.Time, limit int) (int, error)
}

// LoopStore counts exchanges between agents. They outlive the conversation of the last one, which is empty
// then. ErrNotFound if an agent or the conversation that is named does not exist.
type LoopStore interface {
	// Get returns the exchanges of two agents, in any order. ErrNotFound if there were none.
	Get(a, b string) (Exchange, error)
	// Put replaces them, or adds them.
	Put(Exchange) error
	// Forget erases those of two agents, and says whether there were any.
	Forget(a, b string) (bool, error)
	// ForgetIn erases those whose last one was in a conversation and returns those of them with an open
	// breaker.
	ForgetIn(conversation string) ([]Exchange, error)
}

// WaitStore keeps who waits for whom. Those whose message is gone are gone. A conversation that was asked from is
// empty once it is gone.
type WaitStore interface {
	// Insert adds a wait. ErrTaken if its id is in use, or it is an ask and its message has one. ErrNotFound if
	// its message, waiter or target does not exist.
	Insert(Wait) error
	// Ask returns the ask that a message is, ended or not. ErrNotFound if it is none.
	Ask(message string) (Wait, error)
	// In returns all waits for answers to messages of a conversation that have not ended, the late and the abandoned
	// among them, by the order of the messages, then by their ids. Of what is no conversation there are none.
	In(conversation string) ([]Wait, error)
	// Of returns the waits of a run that are in the state waiting, by their ids.
	Of(run string) ([]Wait, error)
	// By returns those of a participant outside of runs that are in the state waiting, by their ids. ErrNotFound if
	// there is no such participant.
	By(waiter string) ([]Wait, error)
	// At returns those in the state waiting whose waiter is connected to a process of the hub, by their ids.
	At(node string) ([]Wait, error)
	// AskedBy returns the asks of a run that have not ended and that somebody still wants: in the states waiting and
	// late, by their ids.
	AskedBy(run string) ([]Wait, error)
	// Working returns the ask whose Work is a task, ended or not. ErrNotFound if there is none.
	Working(task string) (Wait, error)
	// Parked returns the asks to a participant that have not ended and have become a task, by their ids. ErrNotFound if
	// there is no such participant.
	Parked(target string) ([]Wait, error)
	// Asks returns asks, those with the newest question first: those that a participant made or was asked, or all where
	// none is named. ErrNotFound if there is no such participant.
	Asks(of string, f AskFilter) ([]ListedAsk, error)
	// Due returns asks in the state waiting whose Until has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]Wait, error)
	// Put replaces the wait with the same id; its message, waiter, target and depth stay, and whether it is an ask.
	// ErrNotFound if there is none.
	Put(Wait) error
	// Erase erases a wait. ErrNotFound if there is none.
	Erase(id string) error
}

// TaskStore keeps tasks. They outlive the conversations and messages they name, whose ids are empty then, but for
// CallbackTo: somebody is to be told all the same. Lists are by number where nothing else is said. What is no task has
// nothing under it, and nothing depends on it.
type TaskStore interface {
	// NextID draws the id of a new task: small rising numbers, of which none is drawn again once its task is stored.
	NextID() (string, error)
	// Insert adds a task. ErrTaken if its id is in use; ErrNotFound if its parent, its root, a task it depends on, or one
	// of its participants does not exist. What it depends on comes back by number, each once.
	Insert(Task) error
	// Get returns one task and keeps others from changing it until the end of the update. ErrNotFound if there is
	// none.
	Get(id string) (Task, error)
	// GetAll returns those tasks that there are, each once.
	GetAll(ids []string) ([]Task, error)
	// Put replaces the task with the same id; its parent, root, depth, requesters, source, time of creation and what
	// it depends on stay. ErrNotFound if there is none, or its assignee does not exist.
	Put(Task) error
	// Begun returns the task that a message began, of several the first. ErrNotFound if none did.
	Begun(message string) (Task, error)
	// OpenChildren returns the tasks directly under one that have not ended.
	OpenChildren(id string) ([]Task, error)
	// Tree returns a task and all under it, itself first.
	Tree(id string) ([]Task, error)
	// OpenUnder counts the tasks of a root that have not ended, without itself.
	OpenUnder(root string) (int, error)
	// List returns tasks, the newest first. With a reader, only those that it requested or is assigned, and what is
	// under those. Of a participant that does not exist there are none.
	List(f TaskFilter, reader string) ([]Task, error)
	// Scan returns tasks with a greater number than one, at most limit; without one, from the first. What is no task
	// has none after it.
	Scan(after string, limit int) ([]Task, error)
	// Dependants returns the open tasks that depend on one.
	Dependants(id string) ([]Task, error)
	// Awaited returns the open tasks that a participant has delegated: whose CallbackTo was set, whether that
	// conversation is gone or not; at most limit. ErrNotFound if there is no such participant.
	Awaited(requester string, limit int) ([]Task, error)
	// AwaitedBy counts them for each that has any.
	AwaitedBy() (map[string]int, error)
	// Assigned returns the open tasks of an assignee. ErrNotFound if there is no such participant.
	Assigned(assignee string) ([]Task, error)
	// Due returns open tasks whose deadline has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]Task, error)
	// Spent sums up what the runs of a task and of each under it have used, by the id of the task: of those that have
	// had any, and those in conversations that are gone among them.
	Spent(id string) (map[string]Usage, error)
}

// PermissionStore keeps the rules of who may contact whom. ErrNotFound if an agent does not exist.
type PermissionStore interface {
	// Put adds a rule, or replaces the one with the same agent, target and effect.
	Put(Permission) error
	// Remove removes one. ErrNotFound if there is none.
	Remove(agent, target string, effect Effect) error
	// Of returns the rules of an agent: by the age of their targets, those for everybody last, deny before allow.
	Of(agent string) ([]Permission, error)
	// List returns all rules, by the age of their agents, then as Of does.
	List() ([]Permission, error)
}

// ApprovalStore keeps calls that need an approval. They outlive the conversations and messages they name, whose
// ids are empty then.
type ApprovalStore interface {
	// Insert adds one. ErrTaken if its id is in use, or one with the same agent, digest, task and conversation is
	// pending. ErrNotFound if a participant does not exist.
	Insert(Approval) error
	// Get returns one and keeps others from changing it until the end of the update. ErrNotFound if there is none.
	Get(id string) (Approval, error)
	// Put replaces the one with the same id; whose call it is, whom it contacts, the call with its digest, summary,
	// rule and whether only a person may decide, its time of creation and what it came from stay, but for its task.
	// ErrNotFound if there is none, or who decides does not exist. It must not make one pending whose like is.
	Put(Approval) error
	// Pending returns those of an agent that are pending or approved, oldest first. They lack their arguments and
	// summaries, which may be long. ErrNotFound if there is no such agent.
	Pending(agent string) ([]Approval, error)
	// PendingBy returns for each agent that has any the id of its oldest.
	PendingBy() (map[string]string, error)
	// InTask returns those of a task that are pending or approved, oldest first, as Pending does.
	InTask(task string) ([]Approval, error)
	// List returns approvals by their ids, the newest first. With a decider who is no owner, only those of which it
	// is the decider; Mine says nothing more. Of a participant that does not exist there are none.
	List(f ApprovalFilter, decider string, owner bool) ([]Approval, error)
	// Due returns pending ones that expire, or are to be reminded of, by a time, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]Approval, error)
}

// NoticeStore keeps what people are to be told outside of the hub.
type NoticeStore interface {
	// Insert adds a notice. ErrTaken if its id is in use, or its person has one with the same key. ErrNotFound if
	// there is no such person.
	Insert(Notice) error
	// Due returns those that are not done and whose NextAt has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]Notice, error)
	// About returns those about an approval that are not done.
	About(approval string) ([]Notice, error)
	// Put writes down how far telling it has come; what it says, and to whom, stays. ErrNotFound if there is none.
	Put(Notice) error
	// Forget erases up to limit that were made before a time and are done, and says how many.
	Forget(before time.Time, limit int) (int, error)
}

// LogStore keeps the event log and the audit log. Both only grow, but for Prune.
type LogStore interface {
	// Append adds events. Their Num is given by the store. Messages are not appended: see
	// MessageStore.Insert.
	Append(...Event) error
	// Events returns events with a number greater than after, in order, at most limit. Among them is
	// EventMessagePosted for each message, at its seq.
	Events(after int64, limit int) ([]Event, error)
	// Bounds returns the numbers the log reaches from and to, or 0, 0. If all was erased, it reaches from
	// the number after the newest.
	Bounds() (oldest, newest int64, err error)
	// Prune erases up to limit of the oldest events, none at or after one that is not from before a time,
	// and says how many. Those of messages stay with their messages.
	Prune(before time.Time, limit int) (int, error)
	// Audit adds an entry. Its Num and Hash are given by the store.
	Audit(AuditEntry) error
	// Audited returns audit entries with a number greater than after, in order, at most limit.
	Audited(after int64, limit int) ([]AuditEntry, error)
	// AuditHead returns the number and hash of the newest audit entry, or zeros.
	AuditHead() (AuditHead, error)
}

// OldMessage is what retention looks at.
type OldMessage struct {
	Seq       int64
	CreatedAt time.Time
	Bytes     int64 // of its body
	Owed      bool  // a delivery of it is open or a dead letter, or it is an ask that has not ended
}

// Erased is what was erased of messages.
type Erased struct {
	Messages int
	Bytes    int64 // of their bodies
}

// RetentionStore finds and erases messages that are not kept for ever. Those of buried conversations are
// erased by ConversationStore.Purge.
type RetentionStore interface {
	// Oldest returns what is worth knowing of messages with a seq greater than after, in order, at most
	// limit.
	Oldest(after int64, limit int) ([]OldMessage, error)
	// Erase erases the messages with a seq greater than after and at most upTo, but for those that are
	// owed: with their deliveries, their references to artifacts, what the
	// search index has of them, the waits for their answers and the outputs of the runs that they woke or that posted
	// them. Their conversations stay; the numbers these keep are those of what is left. Tasks and approvals stay
	// as they are, but do not name them any more.
	Erase(after, upTo int64) (Erased, error)
	// Weigh counts the bodies of further messages, whose seqs are at most limit numbers. It returns the
	// bytes of all that were counted and are still there, and whether there are more to count.
	Weigh(limit int64) (bytes int64, more bool, err error)
}

// CountStore knows the numbers that are kept, and, for checks, compares them with the rows they count.
type CountStore interface {
	// Totals adds them up: over agents, conversations, inboxes and dead letters, never over messages.
	Totals() (Totals, error)
	// OpenWork counts what waits for somebody: over open tasks and pending approvals only.
	OpenWork() (OpenWork, error)
	// Conversations returns a sentence for each conversation whose number of messages or last seq is
	// not that of its messages, at most limit.
	Conversations(limit int) ([]string, error)
	// Artifacts returns a sentence for each body whose number of references is not that of the messages
	// that refer to it, at most limit.
	Artifacts(limit int) ([]string, error)
	// Inboxes returns a sentence for each participant whose inbox is not what is open for it, at most
	// limit.
	Inboxes(limit int) ([]string, error)
	// Deliveries looks at the rows of deliveries after a message's seq, of at most limit messages, by seq. It returns a
	// sentence for each whose checksum does not hold or whose state does not fit its times, and the last seq looked at: 0
	// if there was none.
	Deliveries(after int64, limit int) (found []string, last int64, err error)
	// Keys returns a sentence for each idempotency key that names a message which was sent by another, or without it,
	// at most limit.
	Keys(limit int) ([]string, error)
	// Weight returns a sentence if the bytes RetentionStore.Weigh has counted are not those of the messages.
	Weight(limit int) ([]string, error)
}

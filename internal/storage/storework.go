package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// RunStore keeps runs, the messages that woke them, and the messages they posted. Methods that take the id of a run return
// ErrNotFound if there is no such run, or if its conversation was deleted. Unless they say otherwise, methods that take an
// agent return ErrNotFound if there is no such agent.
type RunStore interface {
	RunTable
	RunLists
	RunPosts
	RunSessions
	RunOutputs
}

// RunTable holds the rows of runs. Only the package runs writes them.
type RunTable interface {
	// NextNumber draws the number of a new run: small rising numbers. A number whose run is stored is never drawn again.
	NextNumber() (int64, error)
	// Insert adds a run with its triggers and its number, which no other run has. ErrTaken if its id is in use, ErrNotFound if its agent or
	// conversation does not exist, or a trigger in it. Costs are kept to a billionth of a dollar.
	Insert(parley.Run) error
	// Get returns one run and keeps others from changing it until the end of the update.
	Get(id string) (parley.Run, error)
	// Put replaces the run with the same id; its number, agent, conversation, triggers and time of creation stay.
	Put(parley.Run) error
}

// RunLists lists, counts and sums up runs. turns, work and presence use it.
type RunLists interface {
	// Live returns the runs of an agent that have not ended, oldest first. Without an agent, those of all.
	Live(agent string) ([]parley.Run, error)
	// Counts returns the number of live runs of each agent that has any.
	Counts() (map[string]int, error)
	// List returns runs by their ids, the newest first, and none for an agent or a conversation that does not exist.
	List(parley.RunFilter) ([]parley.Run, error)
	// InTask returns the live runs of a task, oldest first.
	InTask(task string) ([]parley.Run, error)
	// WokenBy returns the runs of an agent that a message has woken, oldest first, and none for a message that does not exist.
	WokenBy(message, agent string) ([]parley.Run, error)
	// Spent sums up the usage of the runs of an agent that were made after a time, including runs in deleted conversations.
	Spent(agent string, since time.Time) (parley.Spent, error)
}

// RunPosts holds which messages a run has posted. post uses it to find the message of an earlier attempt.
type RunPosts interface {
	// Posted notes what a run has posted. Noting the same message again changes nothing. ErrNotFound if the
	// message does not exist.
	Posted(run string, post RunPost) error
	// Posts returns what a run has posted, by seq.
	Posts(run string) ([]RunPost, error)
	// PostedBy returns the run that posted a message, of several the oldest. ErrNotFound if none did.
	PostedBy(message string) (parley.Run, error)
}

// RunSessions finds the client's session that the next run of an agent continues, for turns.
type RunSessions interface {
	// Session returns the newest run of an agent in a conversation that has no task, answers no ask, ended well after a time
	// and has a client's session. ErrNotFound if there is none, or no such conversation.
	Session(agent, conversation string, since time.Time) (parley.Run, error)
	// TaskSession returns the newest run of an agent in a task that ended well and has a client's session. ErrNotFound if
	// there is none.
	TaskSession(agent, task string) (parley.Run, error)
}

// RunOutputs holds the outputs of runs. runs keeps them, turns shows them, archive erases them.
type RunOutputs interface {
	// KeepOutput replaces the output of a run. An empty output erases it.
	KeepOutput(run string, output []byte) error
	// Output returns the output of a run, or nil if it has none.
	Output(run string) ([]byte, error)
	// ForgetOutputs erases up to limit outputs of runs that ended before a time, and returns how many it erased.
	ForgetOutputs(before time.Time, limit int) (int, error)
}

// LoopStore counts exchanges between agents. They outlive the conversation of the last exchange, whose id is empty then.
// ErrNotFound if an agent or the conversation that is named does not exist.
type LoopStore interface {
	// Get returns the exchanges of two agents, in any order. ErrNotFound if there were none.
	Get(a, b string) (Exchange, error)
	// Put replaces them, or adds them.
	Put(Exchange) error
	// Forget erases those of two agents, and says whether there were any.
	Forget(a, b string) (bool, error)
	// ForgetIn erases the exchanges whose last one was in a conversation, and returns those of them with an open breaker.
	ForgetIn(conversation string) ([]Exchange, error)
}

// WaitStore keeps the waits of participants for answers. An ask is a wait for the answer to one message. Deleting a message
// deletes its waits. The id of the conversation that an ask came from is empty once that conversation is deleted. Lists are empty
// when nothing is found.
type WaitStore interface {
	WaitTable
	AskLookup
	OpenWaits
}

// WaitTable holds the rows of waits. Only the package waits writes them.
type WaitTable interface {
	// Insert adds a wait. ErrTaken if its id is in use, or it is an ask and its message has one. ErrNotFound if
	// its message, waiter or target does not exist.
	Insert(parley.Wait) error
	// Put replaces the wait with the same id; its message, waiter, target and depth stay, and whether it is an ask.
	// ErrNotFound if there is none.
	Put(parley.Wait) error
	// Erase erases a wait. ErrNotFound if there is none.
	Erase(id string) error
}

// AskLookup finds asks by message, task, run or participant. contact, post and work use it.
type AskLookup interface {
	// Ask returns the ask of a message, ended or not. ErrNotFound if the message is no ask.
	Ask(message string) (parley.Wait, error)
	// Working returns the ask whose Work is a task, ended or not. ErrNotFound if there is none.
	Working(task string) (parley.Wait, error)
	// Parked returns the asks to a participant that have become a task and have not ended, by their ids. ErrNotFound if there
	// is no such participant.
	Parked(target string) ([]parley.Wait, error)
	// AskedBy returns the asks of a run in the states waiting and late, by their ids.
	AskedBy(run string) ([]parley.Wait, error)
	// Asks returns the asks that a participant made or was asked, or all asks if none is named, the newest question first.
	// ErrNotFound if there is no such participant.
	Asks(of string, f parley.AskFilter) ([]ListedAsk, error)
}

// OpenWaits lists waits that have not ended. work ends them; turns ends those whose time is over.
type OpenWaits interface {
	// In returns all waits for answers to messages of a conversation that have not ended, the late and the abandoned
	// among them, by the order of the messages, then by their ids. It returns none for an id that is no conversation.
	In(conversation string) ([]parley.Wait, error)
	// Of returns the waits of a run that are in the state waiting, by their ids.
	Of(run string) ([]parley.Wait, error)
	// By returns the waits of a participant, outside of runs, that are in the state waiting, by their ids. ErrNotFound if there is no
	// such participant.
	By(waiter string) ([]parley.Wait, error)
	// At returns the waits in the state waiting whose waiter is connected to a process of the hub, by their ids.
	At(node string) ([]parley.Wait, error)
	// Due returns asks in the state waiting whose Until has come, those due longest first, at most limit.
	Due(now time.Time, limit int) ([]parley.Wait, error)
}

// TaskStore keeps tasks. They outlive the conversations and messages they name. The ids of deleted ones are empty, except
// CallbackTo, because the end of the task must still be reported. Lists are by number unless the method says otherwise. For
// an id that is no task, lists of subtasks and dependants are empty.
type TaskStore interface {
	TaskTable
	TaskTrees
	TaskLists
	DelegatedTasks
}

// TaskTable holds the rows of tasks. Only the package tasks writes them.
type TaskTable interface {
	// NextID draws the id of a new task: small rising numbers. A number whose task is stored is never drawn again.
	NextID() (string, error)
	// Insert adds a task. ErrTaken if its id is in use; ErrNotFound if its parent, its root, a task it depends on, or one
	// of its participants does not exist. The tasks it depends on are returned by number, each once.
	Insert(parley.Task) error
	// Get returns one task and keeps others from changing it until the end of the update. ErrNotFound if there is
	// none.
	Get(id string) (parley.Task, error)
	// GetAll returns the tasks that exist, each once.
	GetAll(ids []string) ([]parley.Task, error)
	// Put replaces the task with the same id, except its parent, root, depth, requesters, source, time of creation and
	// dependencies. ErrNotFound if there is none, or its assignee does not exist.
	Put(parley.Task) error
}

// TaskTrees reads the tasks under a task and those that depend on it. tasks and work use it.
type TaskTrees interface {
	// OpenChildren returns the tasks directly under one that have not ended.
	OpenChildren(id string) ([]parley.Task, error)
	// Tree returns a task and all under it, itself first.
	Tree(id string) ([]parley.Task, error)
	// OpenUnder counts the tasks of a root that have not ended, without itself.
	OpenUnder(root string) (int, error)
	// Dependants returns the open tasks that depend on one.
	Dependants(id string) ([]parley.Task, error)
	// Spent sums up the usage of the runs of a task and of each task under it, by the id of the task. It includes runs in
	// deleted conversations, and leaves out tasks without runs.
	Spent(id string) (map[string]parley.Usage, error)
}

// TaskLists lists tasks. feed and delegation show them; work and archive go through them.
type TaskLists interface {
	// List returns tasks, the newest first. With a reader, only tasks that it requested or is assigned, and their subtasks. It
	// returns none for a participant that does not exist.
	List(f parley.TaskFilter, reader string) ([]parley.Task, error)
	// Scan returns tasks with a greater number than that of a task, at most limit; without a task, from the first. It returns
	// none after an id that is no task.
	Scan(after string, limit int) ([]parley.Task, error)
	// Assigned returns the open tasks of an assignee. ErrNotFound if there is no such participant.
	Assigned(assignee string) ([]parley.Task, error)
	// Begun returns the task that a message began, of several the first. ErrNotFound if none did.
	Begun(message string) (parley.Task, error)
	// Due returns open tasks whose deadline has come, those due longest first, at most limit.
	Due(now time.Time, limit int) ([]parley.Task, error)
}

// DelegatedTasks finds tasks whose end a participant waits for. presence and reports use it.
type DelegatedTasks interface {
	// Awaited returns the open tasks that a participant has delegated (whose CallbackTo was set, even if that conversation was
	// deleted), at most limit. ErrNotFound if there is no such participant.
	Awaited(requester string, limit int) ([]parley.Task, error)
	// AwaitedBy counts these tasks for each participant that has any.
	AwaitedBy() (map[string]int, error)
}

// PermissionStore keeps the rules that say who may contact whom. ErrNotFound if an agent does not exist.
type PermissionStore interface {
	// Put adds a rule, or replaces the one with the same agent, target and effect.
	Put(parley.Permission) error
	// Remove removes one. ErrNotFound if there is none.
	Remove(agent, target string, effect parley.Effect) error
	// Of returns the rules of an agent: by the age of their targets, those for everybody last, deny before allow.
	Of(agent string) ([]parley.Permission, error)
	// List returns all rules, by the age of their agents, then as Of does.
	List() ([]parley.Permission, error)
}

// ApprovalStore keeps calls that need an approval. They outlive the conversations and messages they name; the ids of
// deleted ones are empty.
type ApprovalStore interface {
	// NextNumber draws the number of a new approval: small rising numbers. A number whose approval is stored is never drawn again.
	NextNumber() (int64, error)
	// Insert adds one with its number, which no other approval has. ErrTaken if its id is in use, or one with the same agent, digest, task and conversation is
	// pending. ErrNotFound if a participant does not exist.
	Insert(parley.Approval) error
	// Get returns one and keeps others from changing it until the end of the update. ErrNotFound if there is none.
	Get(id string) (parley.Approval, error)
	// Put replaces the approval with the same id. These stay: its number, its agent and target; the call with its digest, summary and
	// rule; whether only a person may decide; its time of creation; and its origin, except the task. ErrNotFound if there is
	// none, or if the decider does not exist. Put must not make an approval pending while the same call already is.
	Put(parley.Approval) error
	// Pending returns the pending and approved approvals of an agent, oldest first, without their arguments and summaries,
	// which may be long. ErrNotFound if there is no such agent.
	Pending(agent string) ([]parley.Approval, error)
	// PendingBy returns the id of the oldest pending or approved approval of each agent that has any.
	PendingBy() (map[string]string, error)
	// InTask returns the pending and approved approvals of a task, oldest first, as Pending does.
	InTask(task string) ([]parley.Approval, error)
	// List returns approvals by their ids, the newest first. With a decider that is not an owner, only those that it decides;
	// Mine makes no difference then. It returns none for a participant that does not exist.
	List(f parley.ApprovalFilter, decider string, owner bool) ([]parley.Approval, error)
	// Due returns pending approvals that expire, or need a reminder, by a time, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Approval, error)
}

// NamedID is an id with the number of its short name.
type NamedID struct {
	ID     string
	Number int64
}

// IDReader is the participant for whom ids are looked up. The zero value sees everything.
type IDReader struct {
	ID      string
	Reports []string // the agents whose runs and approvals the reader sees besides its own
}

// IDsLookedAt is among how many ids a piece of an id is looked for: the newest of its noun for an end, and the largest of those
// that begin with it for a beginning.
const IDsLookedAt = 10_000

// NameStore finds messages, approvals and runs by their short names and by pieces of their ids.
type NameStore interface {
	// Numbered returns the id of the message, approval or run with a number, whoever may see it. ErrNotFound if there is none,
	// or its conversation was deleted.
	Numbered(noun parley.Noun, number int64) (id string, err error)
	// Like returns ids of messages, approvals or runs that begin or end with a piece, in any order, at most limit. It finds
	// messages that the reader may read or were delivered to it, runs of the reader and its reports, and approvals of their calls
	// and those it decides. It looks at no more than IDsLookedAt beginnings and as many ends.
	Like(noun parley.Noun, p parley.IDPiece, reader IDReader, limit int) ([]NamedID, error)
}

// NoticeStore keeps notifications to people outside of the hub.
type NoticeStore interface {
	// Insert adds a notice. ErrTaken if its id is in use, or its person has one with the same key. ErrNotFound if
	// there is no such person.
	Insert(parley.Notice) error
	// Due returns those that are not done and whose NextAt has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Notice, error)
	// About returns those about an approval that are not done.
	About(approval string) ([]parley.Notice, error)
	// Put stores the progress of a notice; its text and its person stay. ErrNotFound if there is none.
	Put(parley.Notice) error
	// Forget erases up to limit notices that were made before a time and are done, and returns how many.
	Forget(before time.Time, limit int) (int, error)
}

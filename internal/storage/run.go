package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// RunPost is something a run has posted. Digest is of the call, so that a later attempt that makes the same
// call gets the same message.
type RunPost struct {
	Digest  string
	Message string
}

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
	CountLive() (map[string]int, error)
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
	AddPost(run string, post RunPost) error
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

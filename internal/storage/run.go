package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// RunPost is a message that a run has posted. Digest is the digest of the call: a later attempt that makes the same call gets the
// same message.
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
	// NextNumber draws the number of a new run. Numbers rise by one. The store never draws the number of a stored run again.
	NextNumber() (int64, error)
	// Insert adds a run with its triggers. Its number must be new. It returns ErrTaken if the id is in use, and ErrNotFound if
	// the agent or the conversation does not exist, or if a trigger is not in the conversation. The store rounds costs to a
	// billionth of a dollar.
	Insert(parley.Run) error
	// Get returns one run and locks it against other updates until the end of this update.
	Get(id string) (parley.Run, error)
	// Put replaces the run with the same id. The number, agent, conversation, triggers and time of creation do not change.
	Put(parley.Run) error
}

// RunLists lists, counts and sums up runs. The packages turns, work and presence use it.
type RunLists interface {
	// Live returns the runs of an agent that have not ended, oldest first. If agent is empty, it returns those of all agents.
	Live(agent string) ([]parley.Run, error)
	// CountLive returns the number of live runs of each agent that has a live run, by the agent's id.
	CountLive() (map[string]int, error)
	// List returns runs in the order of their ids, the newest first. The list is empty if the agent or the conversation does not
	// exist.
	List(parley.RunFilter) ([]parley.Run, error)
	// InTask returns the live runs of a task, oldest first.
	InTask(task string) ([]parley.Run, error)
	// WokenBy returns the runs of an agent that a message has woken, oldest first. The list is empty if the message does not
	// exist.
	WokenBy(message, agent string) ([]parley.Run, error)
	// Spent sums up the usage of the runs of an agent that were made after a time, including runs in deleted conversations.
	Spent(agent string, since time.Time) (parley.Spent, error)
}

// RunPosts holds which messages a run has posted. The package post uses it to find the message of an earlier attempt.
type RunPosts interface {
	// AddPost notes a message that a run has posted. Noting the same message again changes nothing. It returns ErrNotFound if the
	// message does not exist.
	AddPost(run string, post RunPost) error
	// Posts returns the messages that a run has posted, in the order of seq.
	Posts(run string) ([]RunPost, error)
	// PostedBy returns the run that posted a message. If several runs did, it returns the oldest. It returns ErrNotFound if no
	// run did.
	PostedBy(message string) (parley.Run, error)
}

// RunSessions finds the client's session that the next run of an agent continues, for turns.
type RunSessions interface {
	// Session returns the newest run of an agent in a conversation that has no task, answers no ask, succeeded after since and
	// has a client's session. It returns ErrNotFound if there is no such run or no such conversation.
	Session(agent, conversation string, since time.Time) (parley.Run, error)
	// TaskSession returns the newest run of an agent in a task that succeeded and has a client's session. It returns ErrNotFound
	// if there is none.
	TaskSession(agent, task string) (parley.Run, error)
}

// RunOutputs holds the outputs of runs. The package runs stores them, turns shows them, and archive erases them.
type RunOutputs interface {
	// PutOutput replaces the output of a run. An empty output erases it.
	PutOutput(run string, output []byte) error
	// Output returns the output of a run, or nil if it has none.
	Output(run string) ([]byte, error)
	// ForgetOutputs erases up to limit outputs of runs that ended before a time, and returns how many it erased.
	ForgetOutputs(before time.Time, limit int) (int, error)
}

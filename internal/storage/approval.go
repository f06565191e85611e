package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// ApprovalStore keeps calls that need an approval. Deleting a conversation or message does not delete the approvals that name it;
// its id in them becomes empty.
type ApprovalStore interface {
	// NextNumber draws the number of a new approval. Numbers rise by one. The store never draws the number of a stored approval
	// again.
	NextNumber() (int64, error)
	// Insert adds an approval. Its number must be new. It returns ErrTaken if the id is in use, or if an approval with the same
	// agent, digest, task and conversation is pending. It returns ErrNotFound if a participant does not exist.
	Insert(parley.Approval) error
	// Get returns one approval and locks it against other updates until the end of this update. It returns ErrNotFound if there
	// is none.
	Get(id string) (parley.Approval, error)
	// Put replaces the approval with the same id. These fields do not change: its number, its agent and target; the call with its
	// digest, summary and rule; whether only a person may decide; its time of creation; and its origin, except the task. It
	// returns ErrNotFound if there is none, or if the decider does not exist. The caller must not make an approval pending while
	// another approval of the same call is pending.
	Put(parley.Approval) error
	// Pending returns the pending and approved approvals of an agent, oldest first, without their arguments and summaries, which
	// may be long. It returns ErrNotFound if there is no such agent.
	Pending(agent string) ([]parley.Approval, error)
	// OldestPending returns the id of the oldest pending or approved approval of each agent that has one, by the agent's id.
	OldestPending() (map[string]string, error)
	// InTask returns the pending and approved approvals of a task, oldest first, as Pending does.
	InTask(task string) ([]parley.Approval, error)
	// List returns approvals in the order of their ids, the newest first. If a decider is given who is not an owner, it returns
	// only the approvals that the decider decides. List does not read Mine. The list is empty if a named participant does not
	// exist.
	List(f parley.ApprovalFilter, decider string, owner bool) ([]parley.Approval, error)
	// Due returns pending approvals that expire or need a reminder at or before now, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Approval, error)
}

package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

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
	OldestPending() (map[string]string, error)
	// InTask returns the pending and approved approvals of a task, oldest first, as Pending does.
	InTask(task string) ([]parley.Approval, error)
	// List returns approvals by their ids, the newest first. With a decider that is not an owner, only those that it decides;
	// Mine makes no difference then. It returns none for a participant that does not exist.
	List(f parley.ApprovalFilter, decider string, owner bool) ([]parley.Approval, error)
	// Due returns pending approvals that expire, or need a reminder, by a time, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Approval, error)
}

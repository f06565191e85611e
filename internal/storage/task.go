package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// TaskStore keeps tasks. Deleting a conversation or message does not delete the tasks that name it. Its id in a task then is
// empty. Only the id in CallbackTo stays, because the hub must still report the end of the task. Lists are in the order of the
// tasks' numbers unless a method says otherwise. Lists of subtasks and dependants are empty if there is no such task.
type TaskStore interface {
	TaskTable
	TaskTrees
	TaskLists
	DelegatedTasks
}

// TaskTable holds the rows of tasks. Only the package tasks writes them.
type TaskTable interface {
	// NextID draws the id of a new task. Numbers rise by one. The store never draws the id of a stored task again.
	NextID() (string, error)
	// Insert adds a task. It returns ErrTaken if its id is in use. It returns ErrNotFound if its parent, its root, a task it
	// depends on, or one of its participants does not exist. The store keeps each dependency once, in the order of the tasks'
	// numbers.
	Insert(parley.Task) error
	// Get returns one task and locks it against other updates until the end of this update. It returns ErrNotFound if there is
	// none.
	Get(id string) (parley.Task, error)
	// GetAll returns the tasks that exist, each once, or an empty list.
	GetAll(ids []string) ([]parley.Task, error)
	// Put replaces the task with the same id, except its parent, root, depth, requesters, source, time of creation and
	// dependencies. It returns ErrNotFound if there is no such task, or if the assignee does not exist.
	Put(parley.Task) error
}

// TaskTrees reads the tasks under a task and those that depend on it. The packages tasks and work use it.
type TaskTrees interface {
	// OpenChildren returns the subtasks directly under a task that have not ended.
	OpenChildren(id string) ([]parley.Task, error)
	// Tree returns a task and all tasks under it, the task itself first.
	Tree(id string) ([]parley.Task, error)
	// OpenUnder counts the tasks under a root that have not ended. It does not count the root.
	OpenUnder(root string) (int, error)
	// Dependants returns the open tasks that depend on a task.
	Dependants(id string) ([]parley.Task, error)
	// Spent sums up the usage of the runs of a task and of each task under it, by the id of the task. It includes runs in deleted
	// conversations. Tasks without runs have no entry.
	Spent(id string) (map[string]parley.Usage, error)
}

// TaskLists lists tasks. The packages feed and delegation show them; work and archive read all of them.
type TaskLists interface {
	// List returns tasks, the newest first. With a reader, only tasks that it requested or is assigned, and their subtasks. The
	// list is empty if a named participant does not exist.
	List(f parley.TaskFilter, reader string) ([]parley.Task, error)
	// Scan returns the tasks after a task, at most limit. If after is empty, it begins with the first task. The list is empty if
	// after cannot be the id of a task.
	Scan(after string, limit int) ([]parley.Task, error)
	// AssignedTo returns the open tasks of an assignee. It returns ErrNotFound if there is no such participant.
	AssignedTo(assignee string) ([]parley.Task, error)
	// BegunBy returns the task that a message began. If it began several, BegunBy returns the first. It returns ErrNotFound if
	// the message began no task.
	BegunBy(message string) (parley.Task, error)
	// Due returns open tasks whose deadline has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Task, error)
}

// DelegatedTasks finds tasks whose end a participant waits for. The packages presence and reports use it.
type DelegatedTasks interface {
	// Awaited returns the open tasks that a participant has delegated, at most limit. A task counts as delegated if its
	// CallbackTo is set, even if that conversation was deleted. It returns ErrNotFound if there is no such participant.
	Awaited(requester string, limit int) ([]parley.Task, error)
	// CountAwaited counts these tasks for each participant that has delegated one, by the participant's id.
	CountAwaited() (map[string]int, error)
}

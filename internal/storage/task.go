package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

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
	AssignedTo(assignee string) ([]parley.Task, error)
	// Begun returns the task that a message began, of several the first. ErrNotFound if none did.
	BegunBy(message string) (parley.Task, error)
	// Due returns open tasks whose deadline has come, those due longest first, at most limit.
	Due(now time.Time, limit int) ([]parley.Task, error)
}

// DelegatedTasks finds tasks whose end a participant waits for. presence and reports use it.
type DelegatedTasks interface {
	// Awaited returns the open tasks that a participant has delegated (whose CallbackTo was set, even if that conversation was
	// deleted), at most limit. ErrNotFound if there is no such participant.
	Awaited(requester string, limit int) ([]parley.Task, error)
	// AwaitedBy counts these tasks for each participant that has any.
	CountAwaited() (map[string]int, error)
}

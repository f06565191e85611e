// Package tasks holds the rows of tasks, each step of their state, trees of tasks, and what a participant may see of them.
package tasks

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new task.
func InsertRow(tx storage.Tx, t parley.Task) error {
	return tx.Tasks().Insert(t)
}

// SetState takes a task to another state and notes the event. No other function changes the state of a task. edit sets other
// fields with the state.
func SetState(u *unit.Unit, t *parley.Task, to parley.TaskState, edit func(*parley.Task)) error {
	if !t.Status.May(to) {
		return parley.Errorf(parley.BadInput, "%s is %s and cannot become %s", t.ID, t.Status, to).
			Because(parley.Conflict).Suggest("check its present state: parley task show %s", t.ID)
	}
	after := *t
	after.Status = to
	switch to {
	case parley.TaskQueued:
		after.StartedAt, after.EndedAt, after.Outcome, after.Result, after.Error = nil, nil, "", nil, nil
		after.Progress, after.Callback = nil, ""
	case parley.TaskActive:
		after.StartedAt = &u.Now
	default:
		after.EndedAt = &u.Now
	}
	if edit != nil {
		edit(&after)
	}
	if err := Save(u, t, after); err != nil {
		return err
	}
	return NoteTask(u, parley.EventTask(to), *t)
}

// Save stores a changed task without a change of state.
func Save(u *unit.Unit, t *parley.Task, after parley.Task) error {
	after.UpdatedAt = u.Now
	err := u.Tasks().Put(after)
	if err == nil {
		*t = after
	}
	return err
}

// AddTask stores a new task and notes the event.
func AddTask(u *unit.Unit, t parley.Task) error {
	if err := InsertRow(u.Tx, t); err != nil {
		return err
	}
	return NoteTask(u, parley.EventTask(t.Status), t)
}

// NoteTask notes an event about a task, for the participants that may see it, and wakes the callers that wait for the task.
func NoteTask(u *unit.Unit, kind parley.EventKind, t parley.Task) error {
	data, err := json.Marshal(struct {
		Task      string               `json:"task"`
		Title     string               `json:"title"`
		Status    parley.TaskState     `json:"status"`
		Requester string               `json:"requester"`
		Assignee  string               `json:"assignee"`
		Attempt   int                  `json:"attempt"`
		Outcome   parley.TaskOutcome   `json:"outcome,omitempty"`
		Error     *parley.Error        `json:"error,omitempty"`
		Progress  *parley.TaskProgress `json:"progress,omitempty"`
	}{t.ID, t.Title, t.Status, t.Requester, t.Assignee, t.Attempt, t.Outcome, t.Error, t.Progress})
	u.Note(parley.Event{Kind: kind, Agent: t.Assignee, Data: data})
	u.Touch(t.ID)
	u.NoteChangedTasks(t.Assignee, t.Requester)
	return err
}

// TaskKey returns the id of a task that the caller named by its number, by #number, or in capitals.
func TaskKey(ref string) string {
	key := strings.ToLower(strings.TrimPrefix(ref, "#"))
	if key != "" && strings.Trim(key, "0123456789") == "" {
		key = "task-" + key
	}
	return key
}

// Task finds a task that the caller may see. It returns unit.Unknown if there is none.
func Task(u *unit.Unit, ref string) (parley.Task, error) {
	t, err := u.Tasks().Get(TaskKey(ref))
	if errors.Is(err, parley.ErrNotFound) {
		return t, unit.Unknown{Noun: "task", Name: ref}
	}
	if err != nil {
		return t, err
	}
	if sees, err := SeesTask(u, t); err != nil || !sees {
		return parley.Task{}, cmp.Or(err, error(unit.Unknown{Noun: "task", Name: ref}))
	}
	return t, nil
}

// SeesTask reports whether the caller may see a task: it requested the task, is assigned to it, or sees a task above it.
func SeesTask(u *unit.Unit, t parley.Task) (bool, error) {
	if u.SeesAll() {
		return true, nil
	}
	for {
		if t.Requester == u.Me.ID || t.Assignee == u.Me.ID {
			return true, nil
		}
		if t.Parent == "" {
			return false, nil
		}
		var err error
		if t, err = u.Tasks().Get(t.Parent); err != nil {
			return false, err
		}
	}
}

const (
	// TasksShown is how many tasks a list has if the caller does not say.
	TasksShown = 100
	// MaxTasks is how many tasks a list has at most.
	MaxTasks = 1000
)

// Resolve replaces the name of a participant by its id. The participant may have been removed. An empty name stays empty.
func Resolve(u *unit.Unit, name *string) error {
	if *name == "" {
		return nil
	}
	a, err := agents.FindAgent(u, *name)
	if errors.Is(err, parley.ErrNotFound) {
		return unit.Unknown{Noun: "agent", Name: *name}
	}
	*name = a.ID
	return err
}

// TaskOfMessage returns the task that a message began or belongs to. It returns parley.ErrNotFound if there is none.
func TaskOfMessage(u *unit.Unit, m parley.Message) (parley.Task, error) {
	t, err := u.Tasks().BegunBy(m.ID)
	if !errors.Is(err, parley.ErrNotFound) || m.Task == "" {
		return t, err
	}
	return u.Tasks().Get(m.Task)
}

// subtree is the tasks under one task, with the usage of the runs of each.
type subtree struct {
	children map[string][]parley.Task // by parent, in the order of their numbers
	spent    map[string]parley.Usage
}

// FindSubtree finds the tasks under a task.
func FindSubtree(u *unit.Unit, id string) (subtree, error) {
	g := subtree{children: map[string][]parley.Task{}}
	list, err := u.Tasks().Tree(id)
	for _, t := range list {
		if t.ID != id {
			g.children[t.Parent] = append(g.children[t.Parent], t)
		}
	}
	return g, err
}

// Under returns the tasks under a task, each after its parent, in the order of their numbers.
func (g subtree) Under(id string) (list []parley.Task) {
	for _, t := range g.children[id] {
		list = append(list, t)
		list = append(list, g.Under(t.ID)...)
	}
	return list
}

// used returns the usage of the runs of a task and of all tasks under it.
func (g subtree) used(id string) parley.Usage {
	sum := g.spent[id]
	for _, t := range g.children[id] {
		sum = sum.Plus(g.used(t.ID))
	}
	return sum
}

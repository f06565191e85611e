package tasks

import (
	"cmp"
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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
	// MostTasks is how many tasks a list has at most.
	MostTasks = 1000
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
	t, err := u.Tasks().Begun(m.ID)
	if !errors.Is(err, parley.ErrNotFound) || m.Task == "" {
		return t, err
	}
	return u.Tasks().Get(m.Task)
}

package tasks

import (
	"cmp"
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TaskKey is how a task is stored that somebody has called by its number, or in capitals.
func TaskKey(ref string) string {
	key := strings.ToLower(strings.TrimPrefix(ref, "#"))
	if key != "" && strings.Trim(key, "0123456789") == "" {
		key = "task-" + key
	}
	return key
}

// Task finds a task that the caller may see.
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

// SeesTask says whether a task is one that the caller requested or is assigned, or is under such a one.
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
	TasksShown = 100
	MostTasks  = 1000
)

// Resolve puts the id of a participant, who may have been removed, in place of what it was called. Nobody stays nobody.
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

// TaskOfMessage is the task that a message began, or belongs to. ErrNotFound if there is none.
func TaskOfMessage(u *unit.Unit, m parley.Message) (parley.Task, error) {
	t, err := u.Tasks().Begun(m.ID)
	if !errors.Is(err, parley.ErrNotFound) || m.Task == "" {
		return t, err
	}
	return u.Tasks().Get(m.Task)
}

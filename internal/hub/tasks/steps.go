package tasks

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// StepTask takes a task to another state and writes the event. It is the only place where the state of a task
// changes. edit sets what goes with it.
func StepTask(u *unit.Unit, t *parley.Task, to parley.TaskState, edit func(*parley.Task)) error {
	if !t.Status.May(to) {
		return parley.Errorf(parley.BadInput, "%s is %s and cannot become %s", t.ID, t.Status, to).
			Because(parley.Conflict).Suggest("look at what has become of it: parley task show %s", t.ID)
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
	if err := KeepTask(u, t, after); err != nil {
		return err
	}
	return NoteTask(u, parley.EventTask(to), *t)
}

// KeepTask writes what a task has become, without a step.
func KeepTask(u *unit.Unit, t *parley.Task, after parley.Task) error {
	after.UpdatedAt = u.Now
	err := u.Tasks().Put(after)
	if err == nil {
		*t = after
	}
	return err
}

// AddTask stores a new task.
func AddTask(u *unit.Unit, t parley.Task) error {
	if err := InsertRow(u.Tx, t); err != nil {
		return err
	}
	return NoteTask(u, parley.EventTask(t.Status), t)
}

// NoteTask tells those who follow where a task stands: whoever may see it. Whoever waits for it looks.
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
	u.Retask(t.Assignee, t.Requester)
	return err
}

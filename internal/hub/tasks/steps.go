package tasks

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// StepTask takes a task to another state and notes the event. No other function changes the state of a task. edit sets other
// fields with the state.
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

// KeepTask stores a changed task without a change of state.
func KeepTask(u *unit.Unit, t *parley.Task, after parley.Task) error {
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
	u.Retask(t.Assignee, t.Requester)
	return err
}

package hub

import (
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley"
)

// stepTask takes a task to another state and writes the event. It is the only place where the state of a task
// changes. edit sets what goes with it.
func (s *scene) stepTask(t *parley.Task, to parley.TaskState, edit func(*parley.Task)) error {
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
		after.StartedAt = &s.now
	default:
		after.EndedAt = &s.now
	}
	if edit != nil {
		edit(&after)
	}
	if err := s.keepTask(t, after); err != nil {
		return err
	}
	return s.noteTask(parley.EventTask(to), *t)
}

// keepTask writes what a task has become, without a step.
func (s *scene) keepTask(t *parley.Task, after parley.Task) error {
	after.UpdatedAt = s.now
	err := s.Tasks().Put(after)
	if err == nil {
		*t = after
	}
	return err
}

// addTask stores a new task.
func (s *scene) addTask(t parley.Task) error {
	if err := s.Tasks().Insert(t); err != nil {
		return err
	}
	return s.noteTask(parley.EventTask(t.Status), t)
}

// noteTask tells those who follow where a task stands: whoever may see it. Whoever waits for it looks.
func (s *scene) noteTask(kind parley.EventKind, t parley.Task) error {
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
	s.note(parley.Event{Kind: kind, Agent: t.Assignee, Data: data})
	s.touch(t.ID)
	s.retask(t.Assignee, t.Requester)
	return err
}

// sumUpTasks says once of each agent whose tasks have changed how it stands, and what it is doing now where that is
// not for a run to say.
func (s *scene) sumUpTasks() error {
	slices.Sort(s.retasked)
	agents := slices.Compact(s.retasked)
	s.retasked = nil
	for _, id := range agents {
		a, err := s.Agents().Find(id)
		if err != nil {
			return err
		}
		if a.Kind != parley.KindAgent || a.RemovedAt != nil {
			continue
		}
		if err := s.summarize(a); err != nil {
			return err
		}
		live, err := s.Runs().Live(a.ID)
		if err == nil && len(live) == 0 {
			err = s.notePresenceOf(a, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

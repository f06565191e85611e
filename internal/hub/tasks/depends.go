package tasks

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// needs is the tasks that a new task depends on.
type needs struct {
	tasks   []parley.Task
	IDs     []string
	Notices []string // one for each missing task, where a missing task is no error
}

// DependsOn finds the tasks that a new task depends on, by their ids or the ids of their messages. A message without a task
// counts as completed. It returns E005 if a task failed or was cancelled. With lenient, it returns a notice for a missing
// task, not an error.
func DependsOn(u *unit.Unit, refs []string, lenient bool) (n needs, err error) {
	for _, ref := range refs {
		t, err := neededTask(u, ref)
		if node, hidden := errors.AsType[unit.Unknown](err); hidden && lenient {
			n.Notices = append(n.Notices, "there is no "+node.Noun+" "+ref+" to depend on: it counts as completed")
			continue
		}
		switch {
		case err != nil:
			return n, err
		case t == nil || slices.Contains(n.IDs, t.ID):
			continue
		case t.Status == parley.TaskFailed, t.Status == parley.TaskCancelled:
			return n, NotCompleted(*t)
		}
		n.tasks, n.IDs = append(n.tasks, *t), append(n.IDs, t.ID)
	}
	return n, nil
}

// NotCompleted returns the error for depending on a task that failed or was cancelled.
func NotCompleted(t parley.Task) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "the task depends on %s, which is %s", t.ID, t.Status).
		Suggest("retry that task first: parley task retry %s", t.ID)
}

// neededTask returns the task with an id, or the task of the message with an id. It returns nil if the message has no task.
func neededTask(u *unit.Unit, ref string) (*parley.Task, error) {
	if !parley.IsUUID(ref) {
		t, err := Task(u, ref)
		return &t, err
	}
	m, _, err := conversations.Message(u, strings.ToLower(ref))
	if err != nil {
		return nil, err
	}
	t, err := TaskOfMessage(u, m)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		t, err = Task(u, t.ID) // a caller that may read the message may still not see its task
	}
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		err = unit.Unknown{Noun: "task", Name: ref}
	}
	return &t, err
}

// MustNotFormCycle returns E003 if a new task would depend on a task that waits for it. A task waits for the tasks it depends
// on, and for all tasks under it.
func MustNotFormCycle(u *unit.Unit, parent *parley.Task, n needs) error {
	above := map[string]bool{}
	for t := parent; t != nil; {
		above[t.ID] = true
		if t.Parent == "" {
			break
		}
		next, err := u.Tasks().Get(t.Parent)
		if err != nil {
			return err
		}
		t = &next
	}
	if len(above) == 0 {
		return nil // without a parent no other task waits for a new task
	}
	from := map[string]string{}
	for queue := slices.Clone(n.tasks); len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if above[t.ID] {
			return cycleError(t.ID, from)
		}
		next, err := WaitedFor(u, t)
		if err != nil {
			return err
		}
		for _, other := range next {
			if _, known := from[other.ID]; !known && !slices.Contains(n.IDs, other.ID) {
				from[other.ID] = t.ID
				queue = append(queue, other)
			}
		}
	}
	return nil
}

// WaitedFor returns the tasks that an open task waits for: those it depends on, and its open subtasks. It returns none for a
// task that has ended.
func WaitedFor(u *unit.Unit, t parley.Task) ([]parley.Task, error) {
	if t.Status.Ended() {
		return nil, nil
	}
	list, err := u.Tasks().GetAll(t.DependsOn)
	if err != nil {
		return nil, err
	}
	children, err := u.Tasks().OpenChildren(t.ID)
	return append(list, children...), err
}

// cycleError returns the error for a cycle, which lists the tasks in it.
func cycleError(last string, from map[string]string) error {
	path := []string{last}
	for from[path[0]] != "" {
		path = slices.Insert(path, 0, from[path[0]])
	}
	return parley.Errorf(parley.BadInput, "the task would wait for itself: the new task → %s → the new task", strings.Join(path, " → ")).
		Suggest("name tasks that do not wait for this one")
}

// WaitsForOthers reports whether a task depends on tasks that are not completed.
func WaitsForOthers(u *unit.Unit, t parley.Task) (bool, error) {
	list, err := u.Tasks().GetAll(t.DependsOn)
	return slices.ContainsFunc(list, func(n parley.Task) bool { return n.Status != parley.TaskCompleted }), err
}

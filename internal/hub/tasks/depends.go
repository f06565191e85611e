package tasks

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// needs is what a new task depends on.
type needs struct {
	tasks   []parley.Task
	Ids     []string
	Notices []string // of what was named and is not there, where that is no error
}

// DependsOn finds the tasks that a new one depends on, by their ids or those of messages: one that has no task is
// satisfied. E005 if one has ended otherwise than completed.
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
		case t == nil || slices.Contains(n.Ids, t.ID):
			continue
		case t.Status == parley.TaskFailed, t.Status == parley.TaskCancelled:
			return n, NotCompleted(*t)
		}
		n.tasks, n.Ids = append(n.tasks, *t), append(n.Ids, t.ID)
	}
	return n, nil
}

func NotCompleted(t parley.Task) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s, which it depends on, is %s", t.ID, t.Status).
		Suggest("have that done again first: parley task retry %s", t.ID)
}

// neededTask is the task that something stands for: an id of a task, or of a message, which may have none.
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
		t, err = Task(u, t.ID) // who reads a message does not see its task for that
	}
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		err = unit.Unknown{Noun: "task", Name: ref}
	}
	return &t, err
}

// MustNotCircle refuses what a new task under another would depend on if that waits for it in turn: a task waits for
// those it depends on, and for all under it.
func MustNotCircle(u *unit.Unit, parent *parley.Task, n needs) error {
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
		return nil // nothing can wait for what is new and under nothing
	}
	from := map[string]string{}
	for queue := slices.Clone(n.tasks); len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if above[t.ID] {
			return closedCircle(t.ID, from)
		}
		next, err := WaitedFor(u, t)
		if err != nil {
			return err
		}
		for _, other := range next {
			if _, known := from[other.ID]; !known && !slices.Contains(n.Ids, other.ID) {
				from[other.ID] = t.ID
				queue = append(queue, other)
			}
		}
	}
	return nil
}

// WaitedFor are the open tasks that a task waits for.
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

func closedCircle(last string, from map[string]string) error {
	path := []string{last}
	for from[path[0]] != "" {
		path = slices.Insert(path, 0, from[path[0]])
	}
	return parley.Errorf(parley.BadInput, "it would wait for itself: the new task → %s → the new task", strings.Join(path, " → ")).
		Suggest("depend on something that does not wait for it")
}

// WaitsForOthers says whether a task depends on others that are not completed.
func WaitsForOthers(u *unit.Unit, t parley.Task) (bool, error) {
	list, err := u.Tasks().GetAll(t.DependsOn)
	return slices.ContainsFunc(list, func(n parley.Task) bool { return n.Status != parley.TaskCompleted }), err
}

package hub

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// needs is what a new task depends on.
type needs struct {
	tasks   []parley.Task
	ids     []string
	notices []string // of what was named and is not there, where that is no error
}

// dependsOn finds the tasks that a new one depends on, by their ids or those of messages: one that has no task is
// satisfied. E005 if one has ended otherwise than completed.
func (s *scene) dependsOn(refs []string, lenient bool) (n needs, err error) {
	for _, ref := range refs {
		t, err := s.neededTask(ref)
		if u, hidden := errors.AsType[unknown](err); hidden && lenient {
			n.notices = append(n.notices, "there is no "+u.noun+" "+ref+" to depend on: it counts as completed")
			continue
		}
		switch {
		case err != nil:
			return n, err
		case t == nil || slices.Contains(n.ids, t.ID):
			continue
		case t.Status == parley.TaskFailed, t.Status == parley.TaskCancelled:
			return n, notCompleted(*t)
		}
		n.tasks, n.ids = append(n.tasks, *t), append(n.ids, t.ID)
	}
	return n, nil
}

func notCompleted(t parley.Task) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s, which it depends on, is %s", t.ID, t.Status).
		Suggest("have that done again first: parley task retry %s", t.ID)
}

// neededTask is the task that something stands for: an id of a task, or of a message, which may have none.
func (s *scene) neededTask(ref string) (*parley.Task, error) {
	if !parley.IsUUID(ref) {
		t, err := s.task(ref)
		return &t, err
	}
	m, _, err := s.message(strings.ToLower(ref))
	if err != nil {
		return nil, err
	}
	t, err := s.taskOfMessage(m)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		t, err = s.task(t.ID) // who reads a message does not see its task for that
	}
	if _, hidden := errors.AsType[unknown](err); hidden {
		err = unknown{"task", ref}
	}
	return &t, err
}

// taskOfMessage is the task that a message began, or belongs to. ErrNotFound if there is none.
func (s *scene) taskOfMessage(m parley.Message) (parley.Task, error) {
	t, err := s.Tasks().Begun(m.ID)
	if !errors.Is(err, parley.ErrNotFound) || m.Task == "" {
		return t, err
	}
	return s.Tasks().Get(m.Task)
}

// mustNotCircle refuses what a new task under another would depend on if that waits for it in turn: a task waits for
// those it depends on, and for all under it.
func (s *scene) mustNotCircle(parent *parley.Task, n needs) error {
	above := map[string]bool{}
	for t := parent; t != nil; {
		above[t.ID] = true
		if t.Parent == "" {
			break
		}
		next, err := s.Tasks().Get(t.Parent)
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
		next, err := s.waitedFor(t)
		if err != nil {
			return err
		}
		for _, other := range next {
			if _, known := from[other.ID]; !known && !slices.Contains(n.ids, other.ID) {
				from[other.ID] = t.ID
				queue = append(queue, other)
			}
		}
	}
	return nil
}

// waitedFor are the open tasks that a task waits for.
func (s *scene) waitedFor(t parley.Task) ([]parley.Task, error) {
	if t.Status.Ended() {
		return nil, nil
	}
	list, err := s.Tasks().GetAll(t.DependsOn)
	if err != nil {
		return nil, err
	}
	children, err := s.Tasks().OpenChildren(t.ID)
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

// waitsForOthers says whether a task depends on others that are not completed.
func (s *scene) waitsForOthers(t parley.Task) (bool, error) {
	list, err := s.Tasks().GetAll(t.DependsOn)
	return slices.ContainsFunc(list, func(n parley.Task) bool { return n.Status != parley.TaskCompleted }), err
}

// freeDependants has what depends on a task that has ended go on, once nothing else is left to wait for, or fail.
func (s *scene) freeDependants(t parley.Task) error {
	list, err := s.Tasks().Dependants(t.ID)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d, err = s.Tasks().Get(d.ID); err != nil {
			return err
		}
		switch {
		case d.Status.Ended(): // meanwhile, with another
		case t.Status != parley.TaskCompleted:
			err = s.endTask(d, failing(notCompleted(t)))
		case d.Status == parley.TaskQueued:
			err = s.offer(&d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

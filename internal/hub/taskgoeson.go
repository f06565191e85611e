package hub

import (
	"slices"

	"github.com/parley-hub/parley"
)

// goesOn reports whether a task goes on after one of its runs has ended: it has an open subtask or approval, waits for other
// tasks, or has or will get another run.
func (s *scene) goesOn(t parley.Task) (bool, error) { return s.goesOnWithout(t, parley.Run{}) }

// goesOnWithout reports whether a task would go on if one of its runs ended.
func (s *scene) goesOnWithout(t parley.Task, r parley.Run) (bool, error) {
	waits, err := s.waitsOn(t)
	if err != nil || len(waits.Subtasks) > 0 || waits.Approval != "" || len(waits.After) > 0 {
		return true, err
	}
	coming, err := s.Queue().OfTask(t.Assignee, t.ID, 1+len(r.Triggers))
	if err != nil || slices.ContainsFunc(coming, func(d parley.Delivery) bool { return d.Lease == "" || d.Lease != r.ID }) {
		return true, err
	}
	if comes, err := s.requestComes(t, r); err != nil || comes {
		return true, err
	}
	live, err := s.Runs().InTask(t.ID)
	return slices.ContainsFunc(live, func(other parley.Run) bool { return other.Agent == t.Assignee && other.ID != r.ID }), err
}

// failUnlessOn fails a task unless it goes on.
func (s *scene) failUnlessOn(t parley.Task, cause *parley.Error) error {
	if goesOn, err := s.goesOn(t); err != nil || goesOn {
		return err
	}
	return s.endTask(t, failing(cause))
}

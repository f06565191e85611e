package work

import (
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// goesOn reports whether a task goes on after one of its runs has ended: it has an open subtask or approval, waits for other
// tasks, or has or will get another run.
func goesOn(u *unit.Unit, t parley.Task) (bool, error) { return goesOnWithout(u, t, parley.Run{}) }

// goesOnWithout reports whether a task would go on if one of its runs ended.
func goesOnWithout(u *unit.Unit, t parley.Task, r parley.Run) (bool, error) {
	waits, err := tasks.WaitsOn(u, t)
	if err != nil || len(waits.Subtasks) > 0 || waits.Approval != "" || len(waits.After) > 0 {
		return true, err
	}
	coming, err := u.Queue().OfTask(t.Assignee, t.ID, 1+len(r.Triggers))
	if err != nil || slices.ContainsFunc(coming, func(d parley.Delivery) bool { return d.Lease == "" || d.Lease != r.ID }) {
		return true, err
	}
	if comes, err := requestComes(u, t, r); err != nil || comes {
		return true, err
	}
	live, err := u.Runs().InTask(t.ID)
	return slices.ContainsFunc(live, func(other parley.Run) bool { return other.Agent == t.Assignee && other.ID != r.ID }), err
}

// FailUnlessOn fails a task unless it goes on.
func FailUnlessOn(u *unit.Unit, t parley.Task, cause *parley.Error) error {
	if goesOn, err := goesOn(u, t); err != nil || goesOn {
		return err
	}
	return EndTask(u, t, failing(cause))
}

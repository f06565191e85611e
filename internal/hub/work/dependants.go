package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// freeDependants is called when a task has ended. Tasks that depend on it are offered to their assignees if they wait for nothing else,
// or fail with it.
func freeDependants(u *unit.Unit, t parley.Task) error {
	list, err := u.Tasks().Dependants(t.ID)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d, err = u.Tasks().Get(d.ID); err != nil {
			return err
		}
		switch {
		case d.Status.Ended(): // it has ended with an earlier one
		case t.Status != parley.TaskCompleted:
			err = EndTask(u, d, failing(tasks.NotCompleted(t)))
		case d.Status == parley.TaskQueued:
			err = Offer(u, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// freeDependants has what depends on a task that has ended go on, once nothing else is left to wait for, or fail.
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
		case d.Status.Ended(): // meanwhile, with another
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

package work

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SweepTasks fails the tasks whose deadline has passed. While there are none it only reads.
func (s *Service) SweepTasks(ctx context.Context) error {
	for {
		var due []parley.Task
		err := s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(nil)
			due, err = u.Tasks().Due(u.Now, 1)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		if err := s.Write(ctx, unit.TheHub, unit.OpItself, failLate); err != nil {
			return err
		}
	}
}

// failLate fails a batch of tasks whose deadline has passed, parents first, because their subtasks are cancelled with them. A task
// whose row cannot be read does not keep others from failing.
func failLate(u *unit.Unit) error {
	u.SkipUnreadable(nil)
	due, err := u.Tasks().Due(u.Now, deliveries.DueBatch)
	slices.SortFunc(due, func(a, b parley.Task) int { return cmp.Compare(a.Depth, b.Depth) })
	for _, t := range due {
		if err == nil {
			t, err = u.Tasks().Get(t.ID)
		}
		if err == nil && !t.Status.Ended() {
			err = EndTask(u, t, failing(parley.Errorf(parley.TimedOut, "its deadline passed").Suggest("retry the task with a later deadline")))
		}
	}
	return err
}

package hub

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-hub/parley"
)

// SweepTasks fails the tasks whose deadline has passed. While there are none it only reads.
func (h *Hub) SweepTasks(ctx context.Context) error {
	for {
		var due []parley.Task
		err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
			s.LeaveOut(nil)
			due, err = s.Tasks().Due(s.now, 1)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		if err := h.write(ctx, theHub, opItself, (*scene).failLate); err != nil {
			return err
		}
	}
}

// failLate fails some of the tasks whose deadline has passed, those further up first: what is under them is cancelled
// with them. One whose row cannot be read keeps no other from failing.
func (s *scene) failLate() error {
	s.LeaveOut(nil)
	due, err := s.Tasks().Due(s.now, dueBatch)
	slices.SortFunc(due, func(a, b parley.Task) int { return cmp.Compare(a.Depth, b.Depth) })
	for _, t := range due {
		if err == nil {
			t, err = s.Tasks().Get(t.ID)
		}
		if err == nil && !t.Status.Ended() {
			err = s.endTask(t, failing(parley.Errorf(parley.TimedOut, "its deadline passed").Suggest("have it done again with more time")))
		}
	}
	return err
}

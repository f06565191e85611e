package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BeginRun says that the turn has started which has the triggers in its context, and by which process. What
// wakes nobody and was in the context too is seen with it. Of a run that has begun before, only the process
// changes: it had to be started anew.
func (s *Service) BeginRun(ctx context.Context, run string, p parley.Process) error {
	from, upTo := s.Live.Context(run)
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		r, err := runs.LiveRun(u, run)
		if err != nil {
			return err
		}
		if r.State != parley.RunStarting {
			return runs.SetProcess(u, &r, p)
		}
		if err := runs.Begin(u, &r, p); err != nil {
			return err
		}
		return runs.SeeQuiet(u, r, from, upTo)
	})
}

// KeepRun extends the leases of a run by 60 s. It says why the run is to end, once somebody wants it to.
// E003, conflict, if it has ended already.
func (s *Service) KeepRun(ctx context.Context, run string) (cancel string, err error) {
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		r, err := runs.LiveRun(u, run)
		if err != nil {
			return err
		}
		cancel = r.Cancel
		list, err := u.Queue().Leased(run)
		if err != nil {
			return err
		}
		return deliveries.Extend(u, list, runs.RunLease)
	})
	return cancel, err
}

package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BeginRun marks the triggers of a run as seen: its turn has started, in the process p. Deliveries that wake nobody are seen
// too if they were in the run's context. If the run has begun before, its client was restarted, and only the process changes.
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

// ExtendRunLease extends the leases of a run by 60 s. It returns the reason for which the run must end, or "" if nobody has cancelled
// it. It returns E003, conflict, if the run has ended.
func (s *Service) ExtendRunLease(ctx context.Context, run string) (cancel string, err error) {
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

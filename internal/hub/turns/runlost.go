package turns

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// LostRuns returns the runs that a former process of the hub with this name has left: those that still count as live, and lost
// ones whose process may still be alive. See RecoverRun.
func (s *Service) LostRuns(ctx context.Context, node string) (lost []parley.Run, err error) {
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		u.SkipUnreadable(nil) // the hub starts without runs that cannot be read
		live, err := u.Runs().Live("")
		if err != nil {
			return err
		}
		ended, err := u.Runs().List(parley.RunFilter{Limit: recentRunLimit})
		for _, r := range live {
			if r.Node == node {
				lost = append(lost, r)
			}
		}
		for _, r := range ended {
			if r.Node == node && r.State == parley.RunLost && r.Process.PID != 0 {
				lost = append(lost, r)
			}
		}
		return err
	})
	return lost, err
}

// recentRunLimit is how many of the newest runs LostRuns searches for processes that have outlived their run.
const recentRunLimit = 1000

// RecoverRun ends a run that ended with its hub. The caller has made sure that the run's process has ended. The deliveries that
// woke the run are ready again: see Recover.
func (s *Service) RecoverRun(ctx context.Context, run string) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		r, err := u.Runs().Get(run)
		if errors.Is(err, parley.ErrNotFound) {
			return nil
		}
		if err == nil && r.State.Live() {
			err = endCrashedRun(u, &r)
		}
		if err != nil {
			return err
		}
		return runs.SetProcess(u, &r, parley.Process{})
	})
}

// endLostRun ends a run that no process works on any more.
func endLostRun(u *unit.Unit, r *parley.Run) error {
	keep := func(*parley.Run) {}
	if r.Cancel != "" {
		return endCancelled(u, r, keep)
	}
	lost := parley.Trouble{Failure: parley.FailureLost, Reason: lostReason}
	cause := deliveries.Failed(r.Agent, lost)
	err := forEachLeased(u, *r, func(d *parley.Delivery) error { return work.RetryOrEnd(u, d, lost.Failure, cause, 0) })
	if err != nil {
		return err
	}
	return storeFailure(u, r, lost.Failure, cause, keep)
}

const lostReason = "the hub or the program ended before the run did"

// EndOverdueRuns ends runs that are long past their deadline and hold no lease. A run that is alive would have ended itself.
func EndOverdueRuns(ctx context.Context, core *unit.Core) error {
	overdue := func(u *unit.Unit) (list []parley.Run, err error) {
		live, err := u.Runs().Live("")
		for _, r := range live {
			if err == nil && r.Deadline.Add(2*runs.RunGrace).Before(u.Now) {
				var held []parley.Delivery
				if held, err = u.Queue().Leased(r.ID); len(held) == 0 {
					list = append(list, r)
				}
			}
		}
		return list, err
	}
	var list []parley.Run
	err := core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		u.SkipUnreadable(nil)
		list, err = overdue(u)
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		u.SkipUnreadable(nil)
		list, err := overdue(u)
		for i := range list {
			if err == nil {
				err = endLostRun(u, &list[i])
			}
		}
		return err
	})
}

// EndCancelledRuns ends runs whose conversation or agent no longer exists, without waiting for their processes.
func EndCancelledRuns(u *unit.Unit, runs []parley.Run, reason string) error {
	for i := range runs {
		err := work.EndRun(u, &runs[i], parley.RunCancelled, func(r *parley.Run) { r.Cancel = reason })
		if err != nil {
			return err
		}
	}
	return nil
}

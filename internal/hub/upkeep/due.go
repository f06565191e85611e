package upkeep

import (
	"context"
	"errors"

	"github.com/parley-hub/parley/internal/hub/turns"
)

func (s *Service) sweepOften(ctx context.Context, started func()) {
	s.Regularly(ctx, started, s.Config.DueEvery, func(ctx context.Context) error {
		if err := turns.Recovered(ctx, s.turns); err != nil {
			return err
		}
		var failed error
		for _, step := range s.frequentSteps() {
			failed = errors.Join(failed, step(ctx))
		}
		return failed
	})
}

// frequentSteps are the steps of the frequent sweep, in this order.
func (s *Service) frequentSteps() []func(context.Context) error {
	return []func(context.Context) error{
		s.turns.SweepDeliveries,
		s.turns.SweepWaits,
		s.work.SweepTasks,
		s.SweepAttendance,
		s.SweepHalts,
		s.SweepBudgets,
		s.decisions.SweepApprovals,
	}
}

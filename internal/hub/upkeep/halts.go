package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// SweepHalts ends pauses and sleep that are over, and cancels the runs of stopped agents when their time is up.
func (s *Service) SweepHalts(ctx context.Context) error {
	if !s.Halts.Begin(s.Now()) {
		return nil
	}
	due, next, err := dueHalts(ctx, s.Core)
	if err == nil && len(due) > 0 {
		err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			for _, id := range due {
				err = errors.Join(err, work.EndHalts(u, id))
			}
			return err
		})
	}
	if err != nil {
		next = append(next, time.Time{}) // try again at the next sweep
	}
	s.Halts.Expect(next)
	return err
}

// dueHalts returns the agents for which something is due now, and the times at which something is due for others.
func dueHalts(ctx context.Context, core *unit.Core) (due []string, next []time.Time, err error) {
	err = core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		list, err := u.Agents().List()
		if err != nil {
			return err
		}
		busy, err := u.Runs().CountLive()
		for _, a := range list {
			now := false
			for _, t := range presence.DueTimes(a, busy[a.ID] > 0) {
				if t.After(u.Now) {
					next = append(next, t)
				} else {
					now = true
				}
			}
			if now {
				due = append(due, a.ID)
			}
		}
		return err
	})
	return due, next, err
}

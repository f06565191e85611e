package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// SweepHalts ends the pauses and the sleep whose time has come, and cancels what agents that were stopped are
// still at.
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
		next = append(next, time.Time{}) // again
	}
	s.Halts.Expect(next)
	return err
}

// dueHalts are the agents for which something is due, and when it will be for others.
func dueHalts(ctx context.Context, core *unit.Core) (due []string, next []time.Time, err error) {
	err = core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		list, err := u.Agents().List()
		if err != nil {
			return err
		}
		busy, err := u.Runs().Counts()
		for _, a := range list {
			now := false
			for _, t := range presence.Ends(a, busy[a.ID] > 0) {
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

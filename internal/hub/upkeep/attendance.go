package upkeep

import (
	"context"
	"slices"

	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// announcePresence writes at once which agents have connected or disconnected.
func (s *Service) announcePresence(ctx context.Context, started func()) {
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Attendance.Wake:
			if err := s.SweepAttendance(ctx); err != nil && ctx.Err() == nil {
				s.Config.Log.Error("cannot store which agents connected or disconnected; the next sweep retries", "error", err)
			}
		}
	}
}

// SweepAttendance writes an event for each agent that has connected, or was silent for too long.
func (s *Service) SweepAttendance(ctx context.Context) error {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	changed, err := s.changedAttendance(ctx)
	if err != nil || len(changed) == 0 {
		return err
	}
	announced := map[string]local.Announced{}
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		for _, id := range changed {
			now, err := presence.NotePresence(u, id)
			if err != nil {
				return err
			}
			announced[id] = local.Announced{Present: now, Busy: s.Attendance.Busy(id, u.Now)}
			if !now {
				err = work.FailAsksToAbsent(u, id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, now := range announced {
		s.Attendance.Announce(id, now)
	}
	return nil
}

// changedAttendance returns the agents whose presence or work differs from what was announced. A silent agent that holds a lease is still
// present.
func (s *Service) changedAttendance(ctx context.Context) (changed []string, err error) {
	if changed = s.Attendance.Changes(s.Now()); len(changed) == 0 {
		return nil, nil
	}
	isSilent := func(id string) bool { return s.Attendance.Silent(id, s.Now(), presence.MaxSilence(s.Core)) }
	if !slices.ContainsFunc(changed, isSilent) {
		return changed, nil
	}
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		holders, err := deliveries.Holders(u)
		changed = slices.DeleteFunc(changed, func(id string) bool { return holders[id] && isSilent(id) })
		return err
	})
	return changed, err
}

package roster

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Sleep puts an agent to sleep until a time. Until then its deliveries are pending, except asks. The agent itself, its manager
// and owners may call it.
func (s *Service) Sleep(ctx context.Context, caller unit.Caller, name string, until time.Time) (parley.Agent, error) {
	until = until.UTC().Truncate(time.Millisecond)
	return setSleep(ctx, s.Core, caller, unit.OpSleep, name, func(u *unit.Unit) (*time.Time, error) {
		if !until.After(u.Now) || until.After(u.Now.Add(presence.MaxSleep)) {
			return nil, parley.Errorf(parley.BadInput, "%s is not a valid time to sleep until", until.Format(time.RFC3339)).
				Suggest("give a time in the future, within a year")
		}
		return &until, nil
	})
}

// Wake ends an agent's sleep.
func (s *Service) Wake(ctx context.Context, caller unit.Caller, name string) (parley.Agent, error) {
	return setSleep(ctx, s.Core, caller, unit.OpWake, name, func(*unit.Unit) (*time.Time, error) { return nil, nil })
}

func setSleep(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, name string, until func(*unit.Unit) (*time.Time, error)) (a parley.Agent, err error) {
	err = core.Update(ctx, caller, do, func(u *unit.Unit) error {
		if a, err = agents.Agent(u, name); err != nil {
			return err
		}
		if a.ID != u.Me.ID && a.Manager != u.Me.ID && !u.SeesAll() {
			return parley.Errorf(parley.NotPermitted, "%s cannot put %s to sleep or wake it", u.Me.ID, a.ID).
				Suggest("ask its manager, or an owner of this hub")
		}
		if a.Kind != parley.KindAgent {
			return parley.Errorf(parley.BadInput, "%s is not an agent", a.ID).Suggest("only agents can sleep")
		}
		if a.SleepingUntil, err = until(u); err != nil {
			return err
		}
		return presence.ChangeHalt(u, a)
	})
	return a, err
}

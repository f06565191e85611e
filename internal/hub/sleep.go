package hub

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// longestSleep keeps a mistake in a date from putting an agent to sleep for ever.
const longestSleep = 366 * 24 * time.Hour

// Sleep puts an agent to sleep until a time: what comes for it waits, but for asks. An agent may put
// itself to sleep; its manager and owners may too.
func (h *Hub) Sleep(ctx context.Context, caller Caller, name string, until time.Time) (parley.Agent, error) {
	until = until.UTC().Truncate(time.Millisecond)
	return h.setSleep(ctx, caller, opSleep, name, func(s *scene) (*time.Time, error) {
		if !until.After(s.now) || until.After(s.now.Add(longestSleep)) {
			return nil, parley.Errorf(parley.BadInput, "%s is no time to sleep until", until.Format(time.RFC3339)).
				Suggest("give a time that is ahead, within a year")
		}
		return &until, nil
	})
}

// Wake ends an agent's sleep.
func (h *Hub) Wake(ctx context.Context, caller Caller, name string) (parley.Agent, error) {
	return h.setSleep(ctx, caller, opWake, name, func(*scene) (*time.Time, error) { return nil, nil })
}

func (h *Hub) setSleep(ctx context.Context, caller Caller, do op, name string, until func(*scene) (*time.Time, error)) (a parley.Agent, err error) {
	err = h.update(ctx, caller, do, func(s *scene) error {
		if a, err = s.agent(name); err != nil {
			return err
		}
		if a.ID != s.me.ID && a.Manager != s.me.ID && !s.seesAll() {
			return parley.Errorf(parley.NotPermitted, "%s cannot put %s to sleep or wake it", s.me.ID, a.ID).
				Suggest("ask its manager, or an owner of this hub")
		}
		if a.Kind != parley.KindAgent {
			return parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("people and the hub do not sleep here")
		}
		if a.SleepingUntil, err = until(s); err != nil {
			return err
		}
		return s.changeHalt(a)
	})
	return a, err
}

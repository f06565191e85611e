package turns

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/unit"
)

// Rung is for the one dispatcher of this process. agents says for whom something may have come, or who has a
// run that is to end, since it was last asked; wait has a sign when it is worth asking. What another process
// has written nobody is rung for: see Waiting.
func (s *Service) Rung() (agents func() []string, wait <-chan struct{}) {
	return s.WokenAgents.Take, s.WokenAgents.Sign
}

// maxWaiting is how many agents are told to wait at once.
const maxWaiting = 10_000

// Waiting are the agents whose runs the hub starts and for whom something waits that wakes them. Who is halted does
// not wait, and who is asleep does only for asks.
func (s *Service) Waiting(ctx context.Context) (ids []string, err error) {
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		all, err := u.Queue().Waiting(maxWaiting)
		for _, id := range all {
			var waits bool
			if err == nil {
				waits, err = canStart(u, id)
			}
			if waits {
				ids = append(ids, id)
			}
		}
		return err
	})
	return ids, err
}

// canStart says whether an agent for whom something is ready could begin with it.
func canStart(u *unit.Unit, id string) (bool, error) {
	a, err := u.Agents().Find(id)
	if err != nil || a.RemovedAt != nil || !a.Dispatched() || a.Halted(u.Now) {
		return false, err
	}
	if !a.Asleep(u.Now) {
		return true, nil
	}
	_, asked, err := nextAsk(u, runStart{agent: a})
	return asked, err
}

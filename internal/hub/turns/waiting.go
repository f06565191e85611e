package turns

import (
	"context"

	"github.com/parley-hub/parley/internal/hub/unit"
)

// AgentsToCheck tells the dispatcher of this process which agents to look at. agents returns the agents that may have new deliveries, or
// a run to cancel, since its last call. wait receives a signal when agents has something to return. Changes by other processes
// give no signal: see Waiting.
func (s *Service) AgentsToCheck() (agents func() []string, wait <-chan struct{}) {
	return s.WokenAgents.Take, s.WokenAgents.Sign
}

// maxWaiting is how many agents with pending deliveries one call looks at.
const maxWaiting = 10_000

// Waiting returns the agents that the hub runs and that have pending deliveries which wake them. Paused and stopped agents are
// left out. A sleeping agent is left out unless somebody asks it.
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

// canStart reports whether an agent that has a ready delivery could begin a run with it.
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

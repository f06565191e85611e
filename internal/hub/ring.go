package hub

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// rung remembers for the dispatcher who has something to take, or a run to end.
type rung struct {
	mu     sync.Mutex
	agents map[string]struct{}
	sign   chan struct{}
}

func newRung() *rung { return &rung{agents: map[string]struct{}{}, sign: make(chan struct{}, 1)} }

func (r *rung) note(agents []string) {
	if len(agents) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, agent := range agents {
		r.agents[agent] = struct{}{}
	}
	signal(r.sign)
}

func (r *rung) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	agents := slices.Sorted(maps.Keys(r.agents))
	clear(r.agents)
	return agents
}

// Rung is for the one dispatcher of this process. agents says for whom something may have come, or who has a
// run that is to end, since it was last asked; wait has a sign when it is worth asking. What another process
// has written nobody is rung for: see Waiting.
func (h *Hub) Rung() (agents func() []string, wait <-chan struct{}) { return h.rung.take, h.rung.sign }

// mostWaiting is how many agents are told to wait at once.
const mostWaiting = 10_000

// Waiting are the agents whose runs the hub starts and for whom something waits that wakes them. Who is halted does
// not wait, and who is asleep does only for asks.
func (h *Hub) Waiting(ctx context.Context) (ids []string, err error) {
	err = h.view(ctx, theHub, opItself, func(s *scene) error {
		all, err := s.Queue().Waiting(mostWaiting)
		for _, id := range all {
			var waits bool
			if err == nil {
				waits, err = s.waits(id)
			}
			if waits {
				ids = append(ids, id)
			}
		}
		return err
	})
	return ids, err
}

// waits says whether an agent for whom something is ready could begin with it.
func (s *scene) waits(id string) (bool, error) {
	a, err := s.Agents().Find(id)
	if err != nil || a.RemovedAt != nil || !a.Dispatched() || a.Halted(s.now) {
		return false, err
	}
	if !a.Asleep(s.now) {
		return true, nil
	}
	_, asked, err := s.nextAsk(start{agent: a})
	return asked, err
}

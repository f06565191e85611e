package metrics

import "sync"

// mostAgents bounds how many agents have figures of their own; those of further ones are added up.
const (
	mostAgents = 1000
	others     = "other agents" // no id has a space
)

// names are the agents that have figures of their own: the first that came, without those that were removed.
type names struct {
	mu    sync.Mutex
	known map[string]bool
	gone  map[string]bool
}

func newNames() *names { return &names{known: map[string]bool{}, gone: map[string]bool{}} }

// remove takes an agent's figures of its own from it, and makes room for those of another.
func (n *names) remove(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, agent)
	n.gone[agent] = true
}

// add lets an agent have figures of its own that was removed before.
func (n *names) add(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.gone, agent)
}

func (n *names) label(agent string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[agent] {
		if len(n.known) == mostAgents || n.gone[agent] {
			return others
		}
		n.known[agent] = true
	}
	return agent
}

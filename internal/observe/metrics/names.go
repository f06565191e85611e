package metrics

import "sync"

// mostAgents bounds how many agents have figures of their own; those of further ones are added up.
const (
	mostAgents = 1000
	others     = "other agents" // no id has a space
)

// names are the agents that have figures of their own: the first that came.
type names struct {
	mu    sync.Mutex
	known map[string]bool
}

func newNames() *names { return &names{known: map[string]bool{}} }

func (n *names) label(agent string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[agent] {
		if len(n.known) == mostAgents {
			return others
		}
		n.known[agent] = true
	}
	return agent
}

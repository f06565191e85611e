package metrics

import "sync"

// mostAgents bounds how many agents have figures of their own; those of further ones are added up.
const (
	mostAgents  = 1000
	otherAgents = "other agents" // no id has a space
)

// agentLabels are the agents that have figures of their own: the first that came, without those that were removed.
type agentLabels struct {
	mu      sync.Mutex
	known   map[string]bool
	removed map[string]bool
}

func newAgentLabels() *agentLabels {
	return &agentLabels{known: map[string]bool{}, removed: map[string]bool{}}
}

// remove takes an agent's figures of its own from it, and makes room for those of another.
func (n *agentLabels) remove(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, agent)
	n.removed[agent] = true
}

// add lets an agent have figures of its own that was removed before.
func (n *agentLabels) add(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.removed, agent)
}

func (n *agentLabels) label(agent string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[agent] {
		if len(n.known) == mostAgents || n.removed[agent] {
			return otherAgents
		}
		n.known[agent] = true
	}
	return agent
}

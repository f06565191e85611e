package metrics

import "sync"

// maxAgents is how many agents have series of their own. The figures of further agents are added up.
const (
	maxAgents   = 1000
	otherAgents = "other agents" // no id has a space
)

// agentLabels are the agents that have series of their own: the first ones that were seen and not removed.
type agentLabels struct {
	mu      sync.Mutex
	known   map[string]bool
	removed map[string]bool
}

func newAgentLabels() *agentLabels {
	return &agentLabels{known: map[string]bool{}, removed: map[string]bool{}}
}

// remove takes away the label of an agent, so that another agent may have one.
func (n *agentLabels) remove(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, agent)
	n.removed[agent] = true
}

// add lets an agent that was removed before have a label again.
func (n *agentLabels) add(agent string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.removed, agent)
}

// label returns the label of an agent: its id, or otherAgents.
func (n *agentLabels) label(agent string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[agent] {
		if len(n.known) == maxAgents || n.removed[agent] {
			return otherAgents
		}
		n.known[agent] = true
	}
	return agent
}

package metrics

import "sync"

// maxAgents is how many agents have series of their own. All further agents share one series, with the label otherAgents.
const (
	maxAgents   = 1000
	otherAgents = "other agents" // no id has a space
)

// agentLabels decides which agents have series of their own: the first maxAgents that were seen and not removed.
type agentLabels struct {
	mu      sync.Mutex
	known   map[string]bool
	removed map[string]bool
}

func newAgentLabels() *agentLabels {
	return &agentLabels{known: map[string]bool{}, removed: map[string]bool{}}
}

// remove takes away the label of an agent, so that another agent may have one.
func (l *agentLabels) remove(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, agent)
	l.removed[agent] = true
}

// add lets an agent that was removed before have a label again.
func (l *agentLabels) add(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.removed, agent)
}

// label returns the label of an agent: its id, or otherAgents.
func (l *agentLabels) label(agent string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known[agent] {
		if len(l.known) == maxAgents || l.removed[agent] {
			return otherAgents
		}
		l.known[agent] = true
	}
	return agent
}

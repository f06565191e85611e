package bridge

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
)

// agentChannels knows in which channel of a tree each agent of the hub was last active.
type agentChannels struct {
	directories []string // the channels that have a directory, as of the last poll

	mu   sync.Mutex        // guards what follows: documents come and go in goroutines of their own
	last map[string]string // by agent: the channel in which it has last written, or was written to
}

// note records that an agent wrote in a channel or was written to.
func (h *agentChannels) note(agent, channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[agent] = channel
}

// keepOnly forgets all agents that are not in the set.
func (h *agentChannels) keepOnly(agents map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.last, func(agent, _ string) bool { return !agents[agent] })
}

// channelOf returns the channel that an agent works in if the tree has it, else its last channel, else one that it can be
// in.
func (p *presence) channelOf(who parley.Presence, mapped []string) string {
	for _, work := range who.Work {
		if slices.Contains(p.places.directories, work.Channel) {
			p.places.note(who.ID, work.Channel)
			return work.Channel
		}
	}
	if last := p.lastChannel(who.ID); slices.Contains(p.places.directories, last) {
		return last
	}
	if len(mapped) > 0 {
		return mapped[0]
	}
	return ""
}

// lastChannel returns the channel in which an agent was last active, as far as this process or the agent's presence file
// knows.
func (p *presence) lastChannel(agent string) string {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	last, known := p.places.last[agent]
	if known {
		return last
	}
	var said signal
	found, err := p.tree.read(presenceDir+"/"+agent+".json", presenceSize)
	if err == nil && json.Unmarshal(found.raw, &said) == nil {
		last = said.Channel
	}
	p.places.last[agent] = last
	return last
}

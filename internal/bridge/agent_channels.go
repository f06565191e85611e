package bridge

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
)

// agentChannels is where the hub's own agents are met in a tree of channels.
type agentChannels struct {
	directories []string // the channels that have a directory, as of the last poll

	mu   sync.Mutex        // guards what follows: documents come and go in goroutines of their own
	last map[string]string // by agent: the channel in which it has last written, or was written to
}

// note notes that an agent has written in a channel, or was written to.
func (h *agentChannels) note(agent, channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[agent] = channel
}

// keepOnly forgets all but some: documents are written to whoever there may be.
func (h *agentChannels) keepOnly(agents map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.last, func(agent, _ string) bool { return !agents[agent] })
}

// channelOf is the channel that an agent works in, as far as the tree has it, or the one in which it was last met, or one in which it
// can be.
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

// lastChannel is where an agent was last met: by this process, or by an earlier one, as the agent's file says.
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

package bridge

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
)

// agentChannels stores in which channel of a tree each agent of the hub was last active.
type agentChannels struct {
	directories []string // the channels that had a directory at the last poll

	mu   sync.Mutex        // guards last, which the importing and the exporting goroutine use
	last map[string]string // by agent: the channel in which the agent last wrote or received a document
}

// note records that an agent wrote in a channel or was written to.
func (c *agentChannels) note(agent, channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[agent] = channel
}

// keepOnly forgets all agents that are not in the set.
func (c *agentChannels) keepOnly(agents map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.last, func(agent, _ string) bool { return !agents[agent] })
}

// channelOf returns the channel that an agent works in, if the tree has it. Otherwise it returns the last channel of the agent,
// or else the first mapped channel. It returns "" if there is none.
func (p *presence) channelOf(agent parley.Presence, mapped []string) string {
	for _, work := range agent.Work {
		if slices.Contains(p.channels.directories, work.Channel) {
			p.channels.note(agent.ID, work.Channel)
			return work.Channel
		}
	}
	if last := p.lastChannel(agent.ID); slices.Contains(p.channels.directories, last) {
		return last
	}
	if len(mapped) > 0 {
		return mapped[0]
	}
	return ""
}

// lastChannel returns the channel in which an agent was last active. It asks this process first, then the agent's presence
// file. It returns "" if neither names a channel.
func (p *presence) lastChannel(agent string) string {
	p.channels.mu.Lock()
	defer p.channels.mu.Unlock()
	last, known := p.channels.last[agent]
	if known {
		return last
	}
	var kept hubPresence
	found, err := p.tree.read(presenceDir+"/"+agent+".json", presenceSize)
	if err == nil && json.Unmarshal(found.raw, &kept) == nil {
		last = kept.Channel
	}
	p.channels.last[agent] = last
	return last
}

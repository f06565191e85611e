package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

const (
	presenceDir   = "signals/presence"
	presenceSize  = 4 << 10
	presenceEvery = 15 * time.Second
)

// presence mirrors presence files both ways. Scripts write the files of agents that live in the tree, and the bridge writes the
// files of the hub's agents.
type presence struct {
	layoutBase
	written    map[string]writtenPresence // by agent
	heartbeats map[string]heartbeat       // by agent
	warned     map[string]fileVersion     // by agent: the state of the file that the last log line was about
	partial    map[string]unfinished
	channels   agentChannels
}

// hubPresence is the presence file that the bridge writes for an agent of the hub. Its fields are those of the Multi-Agent OS format.
type hubPresence struct {
	Agent     string          `json:"agent_id"`
	Timestamp string          `json:"timestamp"`
	State     parley.State    `json:"state"`
	Substate  parley.Substate `json:"substate"`
	PID       int             `json:"watcher_pid"`
	Channel   string          `json:"channel"`
}

// writtenPresence is a presence file that the bridge has written, and when.
type writtenPresence struct {
	hubPresence
	at time.Time
}

// reportPresence reports to the hub which agents of the tree are present.
func (p *presence) reportPresence(ctx context.Context, view bridgeView) error {
	var beats []parley.Beat
	err := p.tree.inFolder(presenceDir, func(f *folder) error {
		for id := range view.inTree {
			if b, ok := p.newBeat(f, id); ok {
				beats = append(beats, b)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(beats) == 0 {
		return nil
	}
	if err := p.hub.Beat(ctx, p.id, beats); err != nil {
		clear(p.heartbeats) // the next poll reports all of them again
		return err
	}
	return nil
}

// writePresence writes the presence files of the hub's agents. It writes a file when the presence has changed, and otherwise now
// and then, so that the file stays fresh.
func (p *presence) writePresence(view bridgeView) error {
	p.channels.keepOnly(view.ofHub)
	present := map[string]bool{}
	var files []hubPresence
	for _, agent := range view.presences {
		if agent.Kind == parley.KindAgent && view.ofHub[agent.ID] {
			present[agent.ID] = true
			files = append(files, hubPresence{
				Agent: agent.ID, State: agent.State, Substate: agent.Substate, PID: os.Getpid(), Channel: p.channelOf(agent, view.bridge.Channels),
			})
		}
	}
	for id, last := range p.written {
		if !present[id] && !view.inTree[id] {
			files = append(files, offline(last.hubPresence)) // the agent was removed
		}
	}
	return p.writeFiles(files)
}

// writeOffline marks all agents of the hub as offline in their presence files.
func (p *presence) writeOffline(view bridgeView) error {
	var files []hubPresence
	for id, last := range p.written {
		if !view.inTree[id] {
			files = append(files, offline(last.hubPresence))
		}
	}
	return p.writeFiles(files)
}

func offline(s hubPresence) hubPresence {
	s.State, s.Substate = parley.Offline, ""
	return s
}

func (p *presence) writeFiles(files []hubPresence) error {
	files = slices.DeleteFunc(files, p.isCurrent)
	if len(files) == 0 {
		return nil
	}
	return p.tree.inMadeFolder(presenceDir, func(f *folder) error {
		var failed error
		for _, s := range files {
			now := p.now()
			stamped := s
			stamped.Timestamp = now.UTC().Format(timeFormat)
			raw, err := json.MarshalIndent(stamped, "", "  ")
			if err == nil {
				err = f.refresh(s.Agent+".json", append(raw, '\n'))
			}
			if err == nil {
				p.written[s.Agent] = writtenPresence{s, now}
				p.setClock(f, s.Agent+".json", now)
			}
			failed = errors.Join(failed, err)
		}
		return failed
	})
}

// setClock measures the clock that stamps files with a file that was just written.
func (p *presence) setClock(f *folder, name string, now time.Time) {
	if info, err := f.stat(name); err == nil {
		p.ahead = info.ModTime().Sub(now)
	}
}

// isCurrent reports whether the bridge has written the same presence recently.
func (p *presence) isCurrent(s hubPresence) bool {
	last, ok := p.written[s.Agent]
	return ok && last.hubPresence == s && (s.State == parley.Offline || p.now().Sub(last.at) < presenceEvery)
}

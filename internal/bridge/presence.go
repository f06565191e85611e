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

// presence mirrors presence files both ways. Scripts write those of agents that live in the tree, the bridge those of the
// hub's agents.
type presence struct {
	layoutBase
	written    map[string]writtenSignal // by agent
	heartbeats map[string]heartbeat     // by agent
	warned     map[string]mark          // by agent: how the file was of which the last line was written
	partial    map[string]unfinished
	places     agentChannels
}

// signal is a presence file. Its fields are S0's.
type signal struct {
	Agent     string          `json:"agent_id"`
	Timestamp string          `json:"timestamp"`
	State     parley.State    `json:"state"`
	Substate  parley.Substate `json:"substate"`
	PID       int             `json:"watcher_pid"`
	Channel   string          `json:"channel"`
}

// writtenSignal is what a presence file of the bridge says.
type writtenSignal struct {
	signal
	at time.Time
}

// reportPresence reports to the hub which agents of the tree are present.
func (p *presence) reportPresence(ctx context.Context, w bridgeView) error {
	var beats []parley.Beat
	err := p.tree.inFolder(presenceDir, func(f *folder) error {
		for id := range w.inTree {
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
		clear(p.heartbeats) // it is said again
		return err
	}
	return nil
}

// writePresence writes the presence files of the hub's agents: those that changed, and all of them now and then, so that
// they stay fresh.
func (p *presence) writePresence(w bridgeView) error {
	p.places.keepOnly(w.ofHub)
	there := map[string]bool{}
	var all []signal
	for _, who := range w.who {
		if who.Kind == parley.KindAgent && w.ofHub[who.ID] {
			there[who.ID] = true
			all = append(all, signal{
				Agent: who.ID, State: who.State, Substate: who.Substate, PID: os.Getpid(), Channel: p.channelOf(who, w.bridge.Channels),
			})
		}
	}
	for id, last := range p.written {
		if !there[id] && !w.inTree[id] {
			all = append(all, offline(last.signal)) // it was removed
		}
	}
	return p.writeFiles(all)
}

// writeOffline writes that all agents of the hub are offline.
func (p *presence) writeOffline(w bridgeView) error {
	var all []signal
	for id, last := range p.written {
		if !w.inTree[id] {
			all = append(all, offline(last.signal))
		}
	}
	return p.writeFiles(all)
}

func offline(s signal) signal {
	s.State, s.Substate = parley.Offline, ""
	return s
}

func (p *presence) writeFiles(all []signal) error {
	all = slices.DeleteFunc(all, p.isCurrent)
	if len(all) == 0 {
		return nil
	}
	return p.tree.inMadeFolder(presenceDir, func(f *folder) error {
		var failed error
		for _, s := range all {
			now := p.now()
			stamped := s
			stamped.Timestamp = now.UTC().Format(timeFormat)
			raw, err := json.MarshalIndent(stamped, "", "  ")
			if err == nil {
				err = f.refresh(s.Agent+".json", append(raw, '\n'))
			}
			if err == nil {
				p.written[s.Agent] = writtenSignal{s, now}
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

// isCurrent reports whether an agent's presence file is still current.
func (p *presence) isCurrent(s signal) bool {
	last, ok := p.written[s.Agent]
	return ok && last.signal == s && (s.State == parley.Offline || p.now().Sub(last.at) < presenceEvery)
}

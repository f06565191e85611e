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

// presence keeps the presence files of a tree (S0), both ways: of agents that live there scripts write them, of the hub's the
// bridge.
type presence struct {
	kit
	written map[string]shown     // by agent
	heard   map[string]heartbeat // by agent
	told    map[string]mark      // by agent: how the file was of which the last line was written
	partial map[string]unfinished
	haunts  haunts
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

// shown is what a file says that the bridge wrote.
type shown struct {
	signal
	at time.Time
}

// hear tells the hub which of the agents that live in the tree are there.
func (p *presence) hear(ctx context.Context, w world) error {
	var beats []parley.Beat
	err := p.tree.in(presenceDir, func(f *folder) error {
		for id := range w.lives {
			if b, ok := p.beat(f, id); ok {
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
		clear(p.heard) // it is said again
		return err
	}
	return nil
}

// show writes the files of the hub's own agents: what has changed, and all of them now and then, for those who look at how old
// they are.
func (p *presence) show(w world) error {
	p.haunts.keep(w.own)
	there := map[string]bool{}
	var all []signal
	for _, who := range w.who {
		if who.Kind == parley.KindAgent && w.own[who.ID] {
			there[who.ID] = true
			all = append(all, signal{
				Agent: who.ID, State: who.State, Substate: who.Substate, PID: os.Getpid(), Channel: p.channelOf(who, w.bridge.Channels),
			})
		}
	}
	for id, last := range p.written {
		if !there[id] && !w.lives[id] {
			all = append(all, offline(last.signal)) // it was removed
		}
	}
	return p.put(all)
}

// leave says of all that they are gone.
func (p *presence) leave(w world) error {
	var all []signal
	for id, last := range p.written {
		if !w.lives[id] {
			all = append(all, offline(last.signal))
		}
	}
	return p.put(all)
}

func offline(s signal) signal {
	s.State, s.Substate = parley.Offline, ""
	return s
}

func (p *presence) put(all []signal) error {
	all = slices.DeleteFunc(all, p.shows)
	if len(all) == 0 {
		return nil
	}
	return p.tree.inMade(presenceDir, func(f *folder) error {
		var failed error
		for _, s := range all {
			now := p.now()
			stamped := s
			stamped.Timestamp = now.UTC().Format(stamp)
			raw, err := json.MarshalIndent(stamped, "", "  ")
			if err == nil {
				err = f.refresh(s.Agent+".json", append(raw, '\n'))
			}
			if err == nil {
				p.written[s.Agent] = shown{s, now}
				p.setClock(f, s.Agent+".json", now)
			}
			failed = errors.Join(failed, err)
		}
		return failed
	})
}

// setClock sees what time it is where the files are, by one that was written just now: clocks drift, and are put right.
func (p *presence) setClock(f *folder, name string, now time.Time) {
	if info, err := f.stat(name); err == nil {
		p.ahead = info.ModTime().Sub(now)
	}
}

// shows says whether an agent's file is still good.
func (p *presence) shows(s signal) bool {
	last, ok := p.written[s.Agent]
	return ok && last.signal == s && (s.State == parley.Offline || p.now().Sub(last.at) < presenceEvery)
}

// Package bridges holds the use cases of bridges, and the hub as a bridge uses it.
package bridges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/roster"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	roster *roster.Service
}

// New makes the use cases on the core of a hub, and on those of other packages that they use.
func New(core *unit.Core, roster *roster.Service) *Service {
	return &Service{Core: core, roster: roster}
}

// BridgesChanged returns a channel that signals when bridges were added, changed or removed in this process. The caller must
// run them.
func (s *Service) BridgesChanged() <-chan struct{} {
	s.BridgeStates.Mu.Lock()
	defer s.BridgeStates.Mu.Unlock()
	s.BridgeStates.Run = true
	return s.BridgeStates.Changed
}

// AddBridge joins a directory tree to the hub. Unknown agents that may write through it are added and live in the tree. It
// does not wait for the first scan: see AwaitBridge. Only an owner may call it.
func (s *Service) AddBridge(ctx context.Context, caller unit.Caller, n parley.NewBridge) (view parley.BridgeView, err error) {
	if n, err = n.Check(); err != nil {
		return view, err
	}
	return editBridge(ctx, s.Core, caller, unit.OpAddBridge, func(u *unit.Unit) (parley.BridgeView, error) { return addBridge(u, n) })
}

// editBridge runs an update that changes a bridge, and signals the runner of bridges.
func editBridge(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, edit func(*unit.Unit) (parley.BridgeView, error)) (view parley.BridgeView, err error) {
	err = core.Update(ctx, caller, do, func(u *unit.Unit) error {
		view, err = edit(u)
		return err
	})
	view.State = view.CurrentState()
	if err == nil {
		local.Signal(core.BridgeStates.Changed)
	}
	return view, err
}

func addBridge(u *unit.Unit, n parley.NewBridge) (view parley.BridgeView, err error) {
	view.Bridge = parley.Bridge{
		ID: n.ID, Layout: n.Layout, Root: n.Root, Channels: n.Channels, ReplaySince: n.ReplaySince, Outside: n.Outside,
		CreatedBy: u.Me.ID, CreatedAt: u.Now,
	}
	b := &view.Bridge
	if err := checkNewBridge(u, *b); err != nil {
		return view, err
	}
	next, err := u.Messages().NextSeq()
	if err != nil {
		return view, err
	}
	b.Since = next - 1
	if b.Agents, view.Notices, err = speakers(u, n.Layout, n.Agents); err != nil {
		return view, err
	}
	if b.QueueAgent, err = queueAgent(u, n.QueueAgent); err != nil {
		return view, err
	}
	if err := u.Bridges().Insert(*b); err != nil {
		return view, err
	}
	return view, noteBridge(u, parley.EventBridgeAdded, "bridge.add", *b)
}

// checkNewBridge refuses a bridge whose id is taken, or whose tree another bridge has: two bridges would import each file
// twice. A bridge that runs outside of the hub may be on another machine.
func checkNewBridge(u *unit.Unit, b parley.Bridge) error {
	all, err := u.Bridges().List()
	for _, other := range all {
		switch {
		case other.Root == b.Root && (other.Layout == b.Layout || other.Outside == b.Outside):
			return parley.Errorf(parley.BadInput, "%s is already connected by the bridge %s", b.Root, other.ID).Because(parley.Conflict).
				Suggest("change that bridge: parley bridge set %[1]s; or remove it first: parley bridge remove %[1]s", other.ID)
		case other.ID == b.ID:
			return parley.Errorf(parley.BadInput, "the hub already has a bridge %s", b.ID).Because(parley.Conflict).
				Suggest("choose another id with --name")
		}
	}
	if err != nil {
		return err
	}
	return trees.CheckApart(u, b, all)
}

// noteBridge records a change of a bridge in the events and in the audit log.
func noteBridge(u *unit.Unit, kind parley.EventKind, act string, b parley.Bridge) error {
	data, err := json.Marshal(map[string]string{"bridge": b.ID})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: kind, Data: data})
	return access.Audit(u, act, b.ID, map[string]any{"layout": b.Layout, "root": b.Root, "agents": b.Agents, "paused": b.Paused})
}

// speakers returns the ids of the agents that may write through a bridge. It adds unknown agents, which live in the tree.
func speakers(u *unit.Unit, l parley.Layout, names []string) (ids, notices []string, err error) {
	for _, name := range names {
		a, err := u.Agents().Find(name)
		if errors.Is(err, parley.ErrNotFound) {
			if a, err = addSpeaker(u, l, name); err == nil {
				notices = append(notices, fmt.Sprintf("%s was added: it lives in the tree", a.ID))
			}
		}
		switch {
		case err != nil:
			return nil, nil, err
		case a.Kind != parley.KindAgent:
			return nil, nil, parley.Errorf(parley.BadInput, "%s is not an agent", a.ID).Suggest("files can be from agents only, not from people or the hub")
		case a.RemovedAt != nil:
			return nil, nil, agents.RemovedError(a.Name).Suggest("name another agent: the names of removed agents stay reserved")
		case slices.Contains(ids, a.ID):
			continue
		}
		if ids = append(ids, a.ID); a.Runtime == parley.RuntimeBridge {
			err = noteProtocol(u, a, l.Protocol().String())
		} else {
			notices = append(notices, elsewhereNote(a))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return ids, notices, nil
}

// elsewhereNote returns the notice that an agent of a bridge does not live in its tree.
func elsewhereNote(a parley.Agent) string {
	why := "its runtime is " + a.Runtime
	if a.Runtime == "" || a.Runtime == parley.RuntimeAttached {
		why = "it polls its own inbox"
	}
	return fmt.Sprintf("%s does not live in the tree: %s; scripts may send as this agent, and messages to it stay in the hub", a.ID, why)
}

func addSpeaker(u *unit.Unit, l parley.Layout, id string) (parley.Agent, error) {
	n := agents.WithDefaults(parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: parley.RuntimeBridge, Protocols: []string{l.Protocol().String()}}})
	if err := agents.CheckNewAgent(n); err != nil {
		return parley.Agent{}, err
	}
	a, err := agents.InsertAgent(u, n)
	if err != nil {
		return a, err
	}
	return a, access.Audit(u, "agent.add", a.ID, map[string]any{"kind": a.Kind, "runtime": a.Runtime})
}

// noteProtocol adds a format to the protocols of an agent that lives in a tree.
func noteProtocol(u *unit.Unit, a parley.Agent, protocol string) error {
	if slices.Contains(a.Protocols, protocol) {
		return nil
	}
	a.Protocols, a.UpdatedAt = append(slices.Clone(a.Protocols), protocol), u.Now
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	return agents.Save(u.Tx, a)
}

// queueAgent returns the id of the agent that takes queued requests. The default agent need not exist before the first
// request.
func queueAgent(u *unit.Unit, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := agents.Agent(u, name)
	if _, none := errors.AsType[unit.Unknown](err); none && name == parley.QueueAgent {
		return name, nil
	}
	if err == nil && a.Kind != parley.KindAgent {
		err = parley.Errorf(parley.BadInput, "%s is not an agent", a.ID).Suggest("name an agent to take requests without a recipient")
	}
	return a.ID, err
}

// ChangeBridge changes the agents and the channels of a bridge, and whether it is paused. Only an owner may call it.
func (s *Service) ChangeBridge(ctx context.Context, caller unit.Caller, id string, c parley.BridgeChange) (parley.BridgeView, error) {
	return editBridge(ctx, s.Core, caller, unit.OpChangeBridge, func(u *unit.Unit) (view parley.BridgeView, err error) {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return view, err
		}
		view = trees.ViewBridge(u, bridge)
		if err := c.Check(view.Layout); err != nil {
			return view, err
		}
		if c.Agents != nil {
			if view.Agents, view.Notices, err = speakers(u, view.Layout, *c.Agents); err != nil {
				return view, err
			}
			if err := departures.RecallFor(u, view.Bridge, func(id string) bool { return !view.HasAgent(id) }); err != nil {
				return view, err
			}
		}
		if c.Channels != nil {
			view.Channels = *c.Channels
		}
		if c.Paused != nil {
			view.Reached = view.Reached && (!view.Paused || *c.Paused) // who resumes it means what is there now
			view.Paused = *c.Paused
		}
		if err := u.Bridges().Put(view.Bridge); err != nil {
			return view, err
		}
		return view, noteBridge(u, parley.EventBridgeChanged, "bridge.change", view.Bridge)
	})
}

// RemoveBridge removes a bridge and its records of files. The tree, the agents and the messages stay. Only an owner may call
// it.
func (s *Service) RemoveBridge(ctx context.Context, caller unit.Caller, id string) error {
	_, err := editBridge(ctx, s.Core, caller, unit.OpRemoveBridge, func(u *unit.Unit) (parley.BridgeView, error) {
		bridge, err := trees.Bridge(u, id)
		if err == nil {
			err = departures.RecallFor(u, bridge, func(string) bool { return true })
		}
		if err == nil {
			err = u.Bridges().Remove(id, u.Now)
		}
		if err != nil {
			return parley.BridgeView{}, err
		}
		return trees.ViewBridge(u, bridge), noteBridge(u, parley.EventBridgeRemoved, "bridge.remove", bridge)
	})
	if err == nil {
		s.BridgeStates.Forget(id)
	}
	return err
}

// Bridges lists all bridges. Only an owner may call it.
func (s *Service) Bridges(ctx context.Context, caller unit.Caller) (list []parley.BridgeView, err error) {
	err = s.View(ctx, caller, unit.OpListBridges, func(u *unit.Unit) error {
		all, err := u.Bridges().List()
		for _, b := range all {
			list = append(list, trees.ViewBridge(u, b))
		}
		return err
	})
	return list, err
}

// troubleGrace is how long a bridge that cannot look at its tree is given: what keeps it may go away at once.
const troubleGrace = 2 * time.Second

// AwaitBridge returns a bridge once its first scan is over: every later file is delivered. It returns earlier when the time
// is up, when something prevents the scan, when the bridge is paused, and when no worker of this process runs it; the state
// says so. E003 if the bridge is removed. Only an owner may call it.
func (s *Service) AwaitBridge(ctx context.Context, caller unit.Caller, id string, wait time.Duration) (parley.BridgeView, error) {
	end := time.NewTimer(wait)
	defer end.Stop()
	var troubled <-chan time.Time
	for {
		noted, runs := s.BridgeStates.Next()
		view, err := s.BridgeAt(caller).Bridge(ctx, id)
		if err != nil || view.Status.Looked || view.Paused || !runs || view.Outside && !view.Status.Running {
			return view, err
		}
		if troubled == nil && view.Status.Trouble != "" {
			troubled = time.After(troubleGrace)
		}
		select {
		case <-noted:
		case <-troubled:
			return view, nil
		case <-end.C:
			return view, nil
		case <-ctx.Done():
			return view, s.Explain(ctx, caller, ctx.Err())
		}
	}
}

package bridges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// BridgesChanged says that bridges were added, changed or removed in this process. Whoever asks for it runs them.
func (s *Service) BridgesChanged() <-chan struct{} {
	s.BridgeStates.Mu.Lock()
	defer s.BridgeStates.Mu.Unlock()
	s.BridgeStates.Run = true
	return s.BridgeStates.Changed
}

// AddBridge joins a directory tree to the hub. Those who may speak through it and are not known are added, and live in the
// tree. It does not wait for the bridge to look at the tree: see AwaitBridge. Only an owner may.
func (s *Service) AddBridge(ctx context.Context, caller unit.Caller, n parley.NewBridge) (view parley.BridgeView, err error) {
	if n, err = n.Check(); err != nil {
		return view, err
	}
	return editBridge(ctx, s.Core, caller, unit.OpAddBridge, func(u *unit.Unit) (parley.BridgeView, error) { return addBridge(u, n) })
}

// editBridge runs an update that changes a bridge, and tells those who run them.
func editBridge(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, edit func(*unit.Unit) (parley.BridgeView, error)) (view parley.BridgeView, err error) {
	err = core.Update(ctx, caller, do, func(u *unit.Unit) error {
		view, err = edit(u)
		return err
	})
	view.State = view.Doing()
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

// checkNewBridge refuses a bridge whose id is taken, or whose tree is joined already: two would import each file twice, and one at a
// time may be at a tree. What runs elsewhere may be on another machine.
func checkNewBridge(u *unit.Unit, b parley.Bridge) error {
	all, err := u.Bridges().List()
	for _, other := range all {
		switch {
		case other.Root == b.Root && (other.Layout == b.Layout || other.Outside == b.Outside):
			return parley.Errorf(parley.BadInput, "%s is joined by the bridge %s already", b.Root, other.ID).Because(parley.Conflict).
				Suggest("change that one: parley bridge set %[1]s; or end it first: parley bridge remove %[1]s", other.ID)
		case other.ID == b.ID:
			return parley.Errorf(parley.BadInput, "there is a bridge %s already", b.ID).Because(parley.Conflict).
				Suggest("give this one another name, as in --name")
		}
	}
	if err != nil {
		return err
	}
	return trees.MustBeApart(u, b, all)
}

// noteBridge writes down what was done to a bridge.
func noteBridge(u *unit.Unit, kind parley.EventKind, act string, b parley.Bridge) error {
	data, err := json.Marshal(map[string]string{"bridge": b.ID})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: kind, Data: data})
	return access.Audit(u, act, b.ID, map[string]any{"layout": b.Layout, "root": b.Root, "agents": b.Agents, "paused": b.Paused})
}

// speakers are the ids of those who may speak through a bridge. Those who are not known are added, and live in the tree.
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
			return nil, nil, parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("nobody speaks for people, or for the hub, by a file")
		case a.RemovedAt != nil:
			return nil, nil, agents.WasRemoved(a.Name).Suggest("name another: the names of removed agents stay reserved")
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

// elsewhereNote says of an agent that may speak through a bridge that it does not live in the tree.
func elsewhereNote(a parley.Agent) string {
	why := "its runtime is " + a.Runtime
	if a.Runtime == "" || a.Runtime == parley.RuntimeAttached {
		why = "it polls its own inbox"
	}
	return fmt.Sprintf("%s does not live in the tree: %s; scripts may write in its name, and mail for it stays in the hub", a.ID, why)
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

// noteProtocol notes that an agent that lives in a tree speaks a format.
func noteProtocol(u *unit.Unit, a parley.Agent, protocol string) error {
	if slices.Contains(a.Protocols, protocol) {
		return nil
	}
	a.Protocols, a.UpdatedAt = append(slices.Clone(a.Protocols), protocol), u.Now
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	return agents.SaveRow(u.Tx, a)
}

// queueAgent is the id of whom requests for nobody are for. The default one need not exist before there is such a request.
func queueAgent(u *unit.Unit, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := agents.Agent(u, name)
	if _, none := errors.AsType[unit.Unknown](err); none && name == parley.QueueAgent {
		return name, nil
	}
	if err == nil && a.Kind != parley.KindAgent {
		err = parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("name an agent that takes requests for nobody")
	}
	return a.ID, err
}

// ChangeBridge changes who may speak through a bridge, what is mapped, and whether it is paused. Only an owner may.
func (s *Service) ChangeBridge(ctx context.Context, caller unit.Caller, id string, c parley.BridgeChange) (parley.BridgeView, error) {
	return editBridge(ctx, s.Core, caller, unit.OpChangeBridge, func(u *unit.Unit) (view parley.BridgeView, err error) {
		if view, err = trees.Bridge(u, id); err != nil {
			return view, err
		}
		if err := c.Check(view.Layout); err != nil {
			return view, err
		}
		if c.Agents != nil {
			if view.Agents, view.Notices, err = speakers(u, view.Layout, *c.Agents); err != nil {
				return view, err
			}
			if err := departures.Recall(u, view.Bridge, func(id string) bool { return !view.Speaks(id) }); err != nil {
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

// RemoveBridge ends a bridge, and forgets what has come and gone by it. Its tree, its agents and its messages stay as they
// are. Only an owner may.
func (s *Service) RemoveBridge(ctx context.Context, caller unit.Caller, id string) error {
	_, err := editBridge(ctx, s.Core, caller, unit.OpRemoveBridge, func(u *unit.Unit) (parley.BridgeView, error) {
		view, err := trees.Bridge(u, id)
		if err == nil {
			err = departures.Recall(u, view.Bridge, func(string) bool { return true })
		}
		if err == nil {
			err = u.Bridges().Remove(id, u.Now)
		}
		if err != nil {
			return view, err
		}
		return view, noteBridge(u, parley.EventBridgeRemoved, "bridge.remove", view.Bridge)
	})
	if err == nil {
		s.BridgeStates.Forget(id)
	}
	return err
}

// Bridges lists all. Only an owner may.
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

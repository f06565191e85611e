package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
)

// bridgeStates is what running bridges say of themselves, by their ids, and whether there are others now.
type bridgeStates struct {
	mu      sync.Mutex
	of      map[string]parley.BridgeStatus
	claimed map[string]parley.Tier // what agents without a tier have last called themselves, by bridge and agent
	changed chan struct{}
	noted   chan struct{} // closed when one says something of itself, and then replaced
	run     bool          // this process runs bridges
}

func newBridgeStates() *bridgeStates {
	return &bridgeStates{
		of: map[string]parley.BridgeStatus{}, claimed: map[string]parley.Tier{}, changed: make(chan struct{}, 1), noted: make(chan struct{}),
	}
}

func (b *bridgeStates) note(id string, s parley.BridgeStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of[id] = s
	b.wake()
}

// wake has those look again who wait for bridges.
func (b *bridgeStates) wake() {
	close(b.noted)
	b.noted = make(chan struct{})
}

// next is closed when a bridge next says something of itself. The second result says whether this process runs bridges.
func (b *bridgeStates) next() (<-chan struct{}, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.noted, b.run
}

// claims notes the tier that somebody gives itself in the documents of a bridge, and says whether that is news.
func (b *bridgeStates) claims(id, agent string, tier parley.Tier) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := id + "/" + agent
	news = b.claimed[key] != tier
	b.claimed[key] = tier
	return news
}

func (b *bridgeStates) look(id string) parley.BridgeStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[id]
}

func (b *bridgeStates) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, id)
	b.wake()
}

// BridgesChanged says that bridges were added, changed or removed in this process. Whoever asks for it runs them.
func (h *Hub) BridgesChanged() <-chan struct{} {
	h.bridges.mu.Lock()
	defer h.bridges.mu.Unlock()
	h.bridges.run = true
	return h.bridges.changed
}

// AddBridge joins a directory tree to the hub. Those who may speak through it and are not known are added, and live in the
// tree. It does not wait for the bridge to look at the tree: see AwaitBridge. Only an owner may.
func (h *Hub) AddBridge(ctx context.Context, caller Caller, n parley.NewBridge) (view parley.BridgeView, err error) {
	if n, err = n.Check(); err != nil {
		return view, err
	}
	return h.editBridge(ctx, caller, opAddBridge, func(s *scene) (parley.BridgeView, error) { return s.addBridge(n) })
}

// editBridge runs an update that changes a bridge, and tells those who run them.
func (h *Hub) editBridge(ctx context.Context, caller Caller, do op, edit func(*scene) (parley.BridgeView, error)) (view parley.BridgeView, err error) {
	err = h.update(ctx, caller, do, func(s *scene) error {
		view, err = edit(s)
		return err
	})
	view.State = view.Doing()
	if err == nil {
		signal(h.bridges.changed)
	}
	return view, err
}

func (s *scene) addBridge(n parley.NewBridge) (view parley.BridgeView, err error) {
	view.Bridge = parley.Bridge{
		ID: n.ID, Layout: n.Layout, Root: n.Root, Channels: n.Channels, ReplaySince: n.ReplaySince, Outside: n.Outside,
		CreatedBy: s.me.ID, CreatedAt: s.now,
	}
	b := &view.Bridge
	if err := s.mustBeNew(*b); err != nil {
		return view, err
	}
	next, err := s.Messages().NextSeq()
	if err != nil {
		return view, err
	}
	b.Since = next - 1
	if b.Agents, view.Notices, err = s.speakers(n.Layout, n.Agents); err != nil {
		return view, err
	}
	if b.QueueAgent, err = s.queueAgent(n.QueueAgent); err != nil {
		return view, err
	}
	if err := s.Bridges().Insert(*b); err != nil {
		return view, err
	}
	return view, s.noteBridge(parley.EventBridgeAdded, "bridge.add", *b)
}

// mustBeNew refuses a bridge whose id is taken, or whose tree is joined already: two would import each file twice, and one at a
// time may be at a tree. What runs elsewhere may be on another machine.
func (s *scene) mustBeNew(b parley.Bridge) error {
	all, err := s.Bridges().List()
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
	return s.mustBeApart(b, all)
}

// noteBridge writes down what was done to a bridge.
func (s *scene) noteBridge(kind parley.EventKind, act string, b parley.Bridge) error {
	data, err := json.Marshal(map[string]string{"bridge": b.ID})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: kind, Data: data})
	return s.audit(act, b.ID, map[string]any{"layout": b.Layout, "root": b.Root, "agents": b.Agents, "paused": b.Paused})
}

// speakers are the ids of those who may speak through a bridge. Those who are not known are added, and live in the tree.
func (s *scene) speakers(l parley.Layout, names []string) (ids, notices []string, err error) {
	for _, name := range names {
		a, err := s.Agents().Find(name)
		if errors.Is(err, parley.ErrNotFound) {
			if a, err = s.addSpeaker(l, name); err == nil {
				notices = append(notices, fmt.Sprintf("%s was added: it lives in the tree", a.ID))
			}
		}
		switch {
		case err != nil:
			return nil, nil, err
		case a.Kind != parley.KindAgent:
			return nil, nil, parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("nobody speaks for people, or for the hub, by a file")
		case a.RemovedAt != nil:
			return nil, nil, wasRemoved(a.Name).Suggest("name another: the names of removed agents stay reserved")
		case slices.Contains(ids, a.ID):
			continue
		}
		if ids = append(ids, a.ID); a.Runtime == parley.RuntimeBridge {
			err = s.speaks(a, l.Protocol().String())
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

func (s *scene) addSpeaker(l parley.Layout, id string) (parley.Agent, error) {
	n := withDefaults(parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: parley.RuntimeBridge, Protocols: []string{l.Protocol().String()}}})
	if err := checkNewAgent(n); err != nil {
		return parley.Agent{}, err
	}
	a, err := s.insertAgent(n)
	if err != nil {
		return a, err
	}
	return a, s.audit("agent.add", a.ID, map[string]any{"kind": a.Kind, "runtime": a.Runtime})
}

// speaks notes that an agent that lives in a tree speaks a format.
func (s *scene) speaks(a parley.Agent, protocol string) error {
	if slices.Contains(a.Protocols, protocol) {
		return nil
	}
	a.Protocols, a.UpdatedAt = append(slices.Clone(a.Protocols), protocol), s.now
	s.note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	return s.Agents().Update(a)
}

// mustSpeakNowhere refuses to remove an agent that a bridge lists: it would list nobody then, under a name that stays reserved.
func (s *scene) mustSpeakNowhere(id string) error {
	trees, err := s.Bridges().List()
	if err != nil {
		return err
	}
	for _, b := range trees {
		if !b.Speaks(id) {
			continue
		}
		refused := parley.Errorf(parley.BadInput, "%s may speak through the bridge %s", id, b.ID).Because(parley.Conflict)
		others := slices.DeleteFunc(slices.Clone(b.Agents), func(other string) bool { return other == id })
		if len(others) == 0 {
			return refused.Suggest("nobody else may: remove the bridge first: parley bridge remove %s", b.ID)
		}
		return refused.Suggest("take it out first: parley bridge set %s --agents %s", b.ID, strings.Join(others, ","))
	}
	return nil
}

// queueAgent is the id of whom requests for nobody are for. The default one need not exist before there is such a request.
func (s *scene) queueAgent(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := s.agent(name)
	if _, none := errors.AsType[unknown](err); none && name == parley.QueueAgent {
		return name, nil
	}
	if err == nil && a.Kind != parley.KindAgent {
		err = parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("name an agent that takes requests for nobody")
	}
	return a.ID, err
}

// ChangeBridge changes who may speak through a bridge, what is mapped, and whether it is paused. Only an owner may.
func (h *Hub) ChangeBridge(ctx context.Context, caller Caller, id string, c parley.BridgeChange) (parley.BridgeView, error) {
	return h.editBridge(ctx, caller, opChangeBridge, func(s *scene) (view parley.BridgeView, err error) {
		if view, err = s.bridge(id); err != nil {
			return view, err
		}
		if err := c.Check(view.Layout); err != nil {
			return view, err
		}
		if c.Agents != nil {
			if view.Agents, view.Notices, err = s.speakers(view.Layout, *c.Agents); err != nil {
				return view, err
			}
			if err := s.recall(view.Bridge, func(id string) bool { return !view.Speaks(id) }); err != nil {
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
		if err := s.Bridges().Put(view.Bridge); err != nil {
			return view, err
		}
		return view, s.noteBridge(parley.EventBridgeChanged, "bridge.change", view.Bridge)
	})
}

// RemoveBridge ends a bridge, and forgets what has come and gone by it. Its tree, its agents and its messages stay as they
// are. Only an owner may.
func (h *Hub) RemoveBridge(ctx context.Context, caller Caller, id string) error {
	_, err := h.editBridge(ctx, caller, opRemoveBridge, func(s *scene) (parley.BridgeView, error) {
		view, err := s.bridge(id)
		if err == nil {
			err = s.recall(view.Bridge, func(string) bool { return true })
		}
		if err == nil {
			err = s.Bridges().Remove(id, s.now)
		}
		if err != nil {
			return view, err
		}
		return view, s.noteBridge(parley.EventBridgeRemoved, "bridge.remove", view.Bridge)
	})
	if err == nil {
		h.bridges.forget(id)
	}
	return err
}

// Bridges lists all. Only an owner may.
func (h *Hub) Bridges(ctx context.Context, caller Caller) (list []parley.BridgeView, err error) {
	err = h.view(ctx, caller, opListBridges, func(s *scene) error {
		all, err := s.Bridges().List()
		for _, b := range all {
			list = append(list, s.viewBridge(b))
		}
		return err
	})
	return list, err
}

// bridge finds one for an owner.
func (s *scene) bridge(id string) (view parley.BridgeView, err error) {
	b, err := s.Bridges().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		err = unknown{"bridge", id}
	}
	return s.viewBridge(b), err
}

// viewBridge adds what a bridge is doing. One that is to do nothing is kept from nothing.
func (s *scene) viewBridge(b parley.Bridge) parley.BridgeView {
	view := parley.BridgeView{Bridge: b, Status: s.hub.bridges.look(b.ID)}
	if about := view.Status.Added; !about.IsZero() && !about.Equal(b.CreatedAt) { // a removed bridge had this id
		view.Status = parley.BridgeStatus{}
	}
	if b.Paused {
		view.Status.Trouble, view.Status.Stopped = "", false
	}
	view.State = view.Doing()
	return view
}

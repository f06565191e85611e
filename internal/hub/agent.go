package hub

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// addFirstAgents writes only if it must: a hub whose store takes no updates still starts, to be read.
func (h *Hub) addFirstAgents(ctx context.Context) error {
	err := h.store.View(ctx, func(tx parley.Tx) error {
		_, err := tx.Agents().Find(parley.Owner) // added last
		return err
	})
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return h.store.Update(ctx, func(tx parley.Tx) error {
		s := h.newScene(tx)
		for _, n := range []parley.NewAgent{
			{ID: parley.System, Name: "Parley", Kind: parley.KindSystem},
			{ID: parley.Owner, Name: parley.Owner, Kind: parley.KindHuman, Access: parley.AccessOwner},
		} {
			if _, err := tx.Agents().Find(n.ID); !errors.Is(err, parley.ErrNotFound) {
				return err
			}
			n.Profile = parley.DefaultProfile()
			if _, err := s.insertAgent(n); err != nil {
				return err
			}
		}
		return s.writeEvents()
	})
}

// AddAgent adds an agent or a person. Only an owner may.
func (h *Hub) AddAgent(ctx context.Context, caller Caller, n parley.NewAgent) (added parley.Agent, err error) {
	n = withDefaults(n)
	if err := checkNewAgent(n); err != nil {
		return added, err
	}
	if err := h.checkNewRuntime(ctx, caller, n); err != nil {
		return added, err
	}
	if n.Reuse {
		h.reusing.Lock()
		defer h.reusing.Unlock()
		if err := h.setFilesAside(ctx, caller, n); err != nil {
			return added, err
		}
		// What the runtime needs of its own, like the secret of a webhook, went with the files.
		if err := h.checkNewRuntime(ctx, caller, n); err != nil {
			return added, err
		}
	}
	var retired []retiredAgent
	err = h.update(ctx, caller, opAddAgent, func(s *scene) error {
		n := n // this may run again
		if n.Manager, err = s.manager(n.ID, n.Manager); err != nil {
			return err
		}
		if n.Reuse {
			retired, err = s.freeNamesFor(n)
			if err != nil {
				return err
			}
		}
		if added, err = s.insertAgent(n); err != nil {
			return err
		}
		if err := s.auditReuse(added, retired); err != nil {
			return err
		}
		return s.audit("agent.add", added.ID, map[string]any{"kind": added.Kind, "access": added.Access})
	})
	if err == nil {
		for _, old := range retired {
			h.attendance.forget(old.was)
		}
	}
	return added, err
}

// checkRuntime asks whether an agent can be run. It may look at the system, so it is outside any update.
func (h *Hub) checkRuntime(ctx context.Context, a parley.Agent) error {
	if h.config.CheckRuntime == nil || !a.Dispatched() {
		return nil
	}
	return h.config.CheckRuntime(ctx, a)
}

// checkNewRuntime says why a new agent cannot be run. Whoever may not add agents learns nothing of it.
func (h *Hub) checkNewRuntime(ctx context.Context, caller Caller, n parley.NewAgent) error {
	if n.Runtime == "" {
		return nil
	}
	if err := h.view(ctx, caller, opAddAgent, func(*scene) error { return nil }); err != nil {
		return err
	}
	return h.checkRuntime(ctx, parley.Agent{ID: n.ID, Name: n.Name, Kind: n.Kind, Profile: n.Profile})
}

func withDefaults(n parley.NewAgent) parley.NewAgent {
	if n.Name == "" {
		n.Name = n.ID
	}
	if n.Kind == "" {
		n.Kind = parley.KindAgent
	}
	if n.Kind == parley.KindHuman && n.Access == "" {
		n.Access = parley.AccessMember
	}
	d := parley.DefaultProfile()
	p := &n.Profile
	setDefault(&p.Mode, d.Mode)
	setDefault(&p.ContextMessages, d.ContextMessages)
	setDefault(&p.InboxDepth, d.InboxDepth)
	setDefault(&p.InboxOverflow, d.InboxOverflow)
	setDefault(&p.Attempts, d.Attempts)
	setDefault(&p.Concurrency, d.Concurrency)
	return n
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func checkNewAgent(n parley.NewAgent) error {
	if err := parley.CheckID(n.ID); err != nil {
		return err
	}
	if err := parley.CheckName(n.Name); err != nil {
		return err
	}
	if n.Kind != parley.KindAgent && n.Kind != parley.KindHuman {
		return parley.Errorf(parley.BadInput, "unknown kind %q", n.Kind).Suggest("use agent or human")
	}
	if err := checkAccess(n.Kind, n.Access); err != nil {
		return err
	}
	return n.Profile.Check()
}

func checkAccess(kind parley.Kind, access parley.Access) error {
	people := []parley.Access{parley.AccessOwner, parley.AccessMember}
	if kind == parley.KindHuman && !slices.Contains(people, access) {
		return parley.Errorf(parley.BadInput, "unknown access %q", access).Suggest("use owner or member")
	}
	if kind != parley.KindHuman && access != "" {
		return parley.Errorf(parley.BadInput, "only people have an access").Suggest("leave it out, or use the kind human")
	}
	return nil
}

func (s *scene) insertAgent(n parley.NewAgent) (parley.Agent, error) {
	a := parley.Agent{
		ID: n.ID, UUID: uuid.NewString(), Name: n.Name, Kind: n.Kind, Access: n.Access,
		CreatedAt: s.now, UpdatedAt: s.now, Profile: n.Profile,
	}
	for _, name := range []string{n.ID, n.Name} {
		if holder, err := s.Agents().Find(name); err == nil {
			return a, agentNameTaken(name, holder)
		} else if !errors.Is(err, parley.ErrNotFound) {
			return a, err
		}
	}
	err := s.Agents().Insert(a)
	s.note(parley.Event{Kind: parley.EventAgentAdded, Agent: a.ID})
	return a, err
}

func agentNameTaken(name string, holder parley.Agent) *parley.Error {
	switch {
	case holder.RemovedAt == nil:
		return parley.Errorf(parley.BadInput, "the name %q belongs to another agent", name).
			Because(parley.Conflict).Suggest("choose another id or name")
	case calledBy(holder, name):
		return parley.Errorf(parley.BadInput, "the name %q belongs to an agent that was removed", name).
			Because(parley.Conflict).Suggest("choose another id or name, or take it over for the new agent with --reuse")
	default: // a uuid, which stays its own
		return parley.Errorf(parley.BadInput, "the name %q belongs to an agent that was removed", name).
			Because(parley.Conflict).Suggest("choose another id or name")
	}
}

// calledBy says whether a name is the id or the name of an agent.
func calledBy(a parley.Agent, name string) bool {
	folded := parley.Fold(name)
	return folded == parley.Fold(a.ID) || folded == parley.Fold(a.Name)
}

// agentNameHeld is agentNameTaken for an agent that is to be renamed, which cannot take a name over.
func agentNameHeld(name string, holder parley.Agent) error {
	return agentNameTaken(name, holder).Suggest("choose another name")
}

// manager resolves a manager and refuses a chain of managers that leads back.
func (s *scene) manager(id, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	boss, err := s.agent(name)
	if err != nil {
		return "", err
	}
	if boss.Kind == parley.KindSystem {
		return "", parley.Errorf(parley.BadInput, "%s manages nobody", boss.ID).Suggest("name an agent or a person")
	}
	first := boss.ID
	for seen := map[string]bool{id: true}; ; {
		if seen[boss.ID] {
			return "", parley.Errorf(parley.BadInput, "%s cannot be managed by %s: the chain of managers leads back to %s", id, first, boss.ID).
				Suggest("choose a manager who does not report to it")
		}
		seen[boss.ID] = true
		if boss.Manager == "" {
			return first, nil
		}
		if boss, err = s.Agents().Find(boss.Manager); err != nil {
			return "", err
		}
	}
}

// ChangeAgent lets change edit an agent's name, access and profile. Only an owner may. change may be
// called again, if somebody else changes the agent at the same time.
func (h *Hub) ChangeAgent(ctx context.Context, caller Caller, name string, change func(*parley.Agent) error) (parley.Agent, error) {
	for range maxOvertaken {
		after, err := h.tryChangeAgent(ctx, caller, name, change)
		if err == nil {
			return after, nil
		}
		if !errors.Is(err, errOvertaken) {
			return parley.Agent{}, err
		}
	}
	return parley.Agent{}, parley.Errorf(parley.Unavailable, "%s is being changed by others all the time", name).
		Retryable(0).Suggest("try again")
}

const maxOvertaken = 100

func (h *Hub) tryChangeAgent(ctx context.Context, caller Caller, name string, change func(*parley.Agent) error) (after parley.Agent, err error) {
	var before, edited parley.Agent
	err = h.view(ctx, caller, opChangeAgent, func(s *scene) (err error) {
		if before, err = s.changeable(name); err == nil {
			edited, err = s.changeable(name) // a copy of its own: change may write into its lists
		}
		return err
	})
	if err != nil {
		return after, err
	}
	if err := change(&edited); err != nil {
		return after, err
	}
	if edited.Runtime != before.Runtime || !bytes.Equal(edited.RuntimeConfig, before.RuntimeConfig) {
		if err := h.checkRuntime(ctx, edited); err != nil {
			return after, err
		}
	}
	err = h.update(ctx, caller, opChangeAgent, func(s *scene) (err error) {
		after, err = s.changeAgent(before, edited)
		return err
	})
	return after, err
}

// errOvertaken says that the agent is not any more what the change was made for.
var errOvertaken = errors.New("the agent was changed by somebody else")

func (s *scene) changeable(name string) (parley.Agent, error) {
	a, err := s.agent(name)
	if err == nil && a.Kind == parley.KindSystem {
		err = parley.Errorf(parley.NotPermitted, "%s cannot be changed", a.ID).Suggest("it is the hub itself")
	}
	return a, err
}

func (s *scene) changeAgent(before, edited parley.Agent) (parley.Agent, error) {
	after, err := s.changeable(before.ID)
	if err != nil {
		return after, err
	}
	if !reflect.DeepEqual(before, after) {
		return after, errOvertaken
	}
	after.Name, after.Access, after.Profile, after.UpdatedAt = edited.Name, edited.Access, edited.Profile, s.now
	if err := s.checkChanged(before, &after); err != nil {
		return after, err
	}
	err = s.Agents().Update(after)
	if errors.Is(err, parley.ErrTaken) {
		holder, err := s.Agents().Find(after.Name)
		if err != nil {
			return after, err
		}
		return after, agentNameHeld(after.Name, holder)
	}
	s.note(parley.Event{Kind: parley.EventAgentChanged, Agent: after.ID})
	if err == nil && after.Manager != before.Manager {
		err = s.passApprovals(after.ID)
	}
	if err == nil && before.Runtime == parley.RuntimeBridge && after.Runtime != before.Runtime {
		err = s.recallAll(after.ID)
	}
	return after, errors.Join(err, s.audit("agent.change", after.ID, nil))
}

func (s *scene) checkChanged(before parley.Agent, after *parley.Agent) error {
	if after.Name != before.Name {
		if err := parley.CheckName(after.Name); err != nil {
			return err
		}
	}
	if err := checkAccess(after.Kind, after.Access); err != nil {
		return err
	}
	if err := after.Profile.Check(); err != nil {
		return err
	}
	if after.ID == parley.Owner && after.Access != parley.AccessOwner {
		return parley.Errorf(parley.NotPermitted, "%s set this hub up and stays its owner", after.ID).
			Suggest("make other people owners beside it")
	}
	var err error
	after.Manager, err = s.manager(after.ID, after.Manager)
	return err
}

// Agents lists the participants. Removed ones are left out.
func (h *Hub) Agents(ctx context.Context, caller Caller) (list []parley.Agent, err error) {
	err = h.view(ctx, caller, opListAgents, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		list, err = s.Agents().List()
		list = slices.DeleteFunc(list, func(a parley.Agent) bool { return a.RemovedAt != nil })
		for i := range list {
			list[i] = s.show(list[i])
		}
		return err
	})
	return list, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listAgents})
}

// Agent shows one participant.
func (h *Hub) Agent(ctx context.Context, caller Caller, name string) (a parley.Agent, err error) {
	err = h.view(ctx, caller, opShowAgent, func(s *scene) error {
		if a, err = s.agentToRead(caller, &name); err == nil {
			a = s.show(a)
		}
		return err
	})
	return a, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: showAgent, Subject: name})
}

// agentToRead finds a participant, whose id it puts in place of what it was called: a call that is held is for that
// one. A strict caller sees only itself by itself.
func (s *scene) agentToRead(caller Caller, name *string) (parley.Agent, error) {
	a, err := s.agent(*name)
	if err != nil {
		return a, err
	}
	if *name = a.ID; a.ID != s.me.ID {
		err = s.mustRead(origin{caller: caller}, "")
	}
	return a, err
}

// show leaves out what only owners see: how an agent is run, and what another one is told.
func (s *scene) show(a parley.Agent) parley.Agent {
	if s.seesAll() {
		return a
	}
	a.RuntimeConfig = nil
	if a.ID != s.me.ID {
		a.Guardrails = ""
	}
	return a
}

// RemoveAgent removes a participant: it leaves its channels and groups, its tokens are revoked, what was on
// its way to it has failed, and its names stay its own until an owner takes them for a new one. Only an owner may, and not of one that a bridge lists.
func (h *Hub) RemoveAgent(ctx context.Context, caller Caller, name string) error {
	err := h.update(ctx, caller, opRemoveAgent, func(s *scene) error {
		a, err := s.agent(name)
		if err != nil {
			return err
		}
		if a.ID == parley.Owner || a.Kind == parley.KindSystem {
			return parley.Errorf(parley.NotPermitted, "%s cannot be removed", a.ID).Suggest("every hub has it")
		}
		if err := s.mustSpeakNowhere(a.ID); err != nil {
			return err
		}
		a.RemovedAt, a.UpdatedAt = &s.now, s.now
		if err := s.leaveAll(a.ID); err != nil {
			return err
		}
		if err := s.dismissReports(a.ID); err != nil {
			return err
		}
		if err := s.revokeAll(a.ID); err != nil {
			return err
		}
		if err := s.Agents().Update(a); err != nil {
			return err
		}
		live, err := s.Runs().Live(a.ID)
		if err == nil {
			err = s.cancelAtOnce(live, a.ID+" was removed")
		}
		if err == nil {
			err = s.withdrawApprovalsOf(a)
		}
		if err == nil {
			err = s.endTasksOf(a)
		}
		if err != nil {
			return err
		}
		if err := s.freeWaitsOf(a); err != nil {
			return err
		}
		s.wake(a.ID) // who waits as it is told
		s.note(parley.Event{Kind: parley.EventAgentRemoved, Agent: a.ID})
		return s.audit("agent.remove", a.ID, nil)
	})
	if err != nil {
		return err
	}
	// It is removed, whatever comes now: what is left on the way to it, the next sweep fails.
	if err := h.failOrphaned(context.WithoutCancel(ctx)); err != nil {
		h.config.Log.Error("deliveries to a removed agent could not be failed, will try again", "agent", name, "error", err)
	}
	return nil
}

func (s *scene) leaveAll(id string) error {
	kinds := []parley.ConversationKind{parley.Channel, parley.Group}
	for _, archived := range []bool{false, true} {
		filter := parley.ConversationFilter{Member: id, Kinds: kinds, Archived: archived, Limit: 1 << 30}
		list, err := s.Conversations().List(filter)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.FixedMembers() {
				continue
			}
			if err := s.takeOut(place{Conversation: c}, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// dismissReports leaves those whose manager is removed without one.
func (s *scene) dismissReports(id string) error {
	list, err := s.Agents().List()
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Manager != id {
			continue
		}
		a.Manager, a.UpdatedAt = "", s.now
		if err := s.Agents().Update(a); err != nil {
			return err
		}
		s.note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
		if err := s.passApprovals(a.ID); err != nil {
			return err
		}
	}
	return nil
}

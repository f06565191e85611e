package roster

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// AddFirstAgents writes only if it must: a hub whose store takes no updates still starts, to be read.
func AddFirstAgents(ctx context.Context, core *unit.Core) error {
	err := core.Store.View(ctx, func(tx storage.Tx) error {
		_, err := tx.Agents().Find(parley.Owner) // added last
		return err
	})
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return core.Store.Update(ctx, func(tx storage.Tx) error {
		u := core.NewUnit(tx)
		for _, n := range []parley.NewAgent{
			{ID: parley.System, Name: "Parley", Kind: parley.KindSystem},
			{ID: parley.Owner, Name: parley.Owner, Kind: parley.KindHuman, Access: parley.AccessOwner},
		} {
			if _, err := tx.Agents().Find(n.ID); !errors.Is(err, parley.ErrNotFound) {
				return err
			}
			n.Profile = parley.DefaultProfile()
			if _, err := agents.InsertAgent(u, n); err != nil {
				return err
			}
		}
		return u.WriteEvents()
	})
}

// AddAgent adds an agent or a person. Only an owner may.
func (s *Service) AddAgent(ctx context.Context, caller unit.Caller, n parley.NewAgent) (added parley.Agent, err error) {
	n = agents.WithDefaults(n)
	if err := agents.CheckNewAgent(n); err != nil {
		return added, err
	}
	if err := checkNewRuntime(ctx, s.Core, caller, n); err != nil {
		return added, err
	}
	if n.Reuse {
		s.reusing.Lock()
		defer s.reusing.Unlock()
		if err := setFilesAside(ctx, s.Core, caller, n); err != nil {
			return added, err
		}
		// What the runtime needs of its own, like the secret of a webhook, went with the files.
		if err := checkNewRuntime(ctx, s.Core, caller, n); err != nil {
			return added, err
		}
	}
	var retired []retiredAgent
	err = s.Update(ctx, caller, unit.OpAddAgent, func(u *unit.Unit) error {
		n := n // this may run again
		if n.Manager, err = agents.Manager(u, n.ID, n.Manager); err != nil {
			return err
		}
		if n.Reuse {
			retired, err = freeNamesFor(u, n)
			if err != nil {
				return err
			}
		}
		if added, err = agents.InsertAgent(u, n); err != nil {
			return err
		}
		if err := auditReuse(u, added, retired); err != nil {
			return err
		}
		return access.Audit(u, "agent.add", added.ID, map[string]any{"kind": added.Kind, "access": added.Access})
	})
	if err == nil {
		for _, old := range retired {
			s.Attendance.Forget(old.was)
		}
	}
	return added, err
}

// checkRuntime asks whether an agent can be run. It may look at the system, so it is outside any update.
func checkRuntime(ctx context.Context, core *unit.Core, a parley.Agent) error {
	if core.Config.CheckRuntime == nil || !a.Dispatched() {
		return nil
	}
	return core.Config.CheckRuntime(ctx, a)
}

// checkNewRuntime says why a new agent cannot be run. Whoever may not add agents learns nothing of it.
func checkNewRuntime(ctx context.Context, core *unit.Core, caller unit.Caller, n parley.NewAgent) error {
	if n.Runtime == "" {
		return nil
	}
	if err := core.View(ctx, caller, unit.OpAddAgent, func(*unit.Unit) error { return nil }); err != nil {
		return err
	}
	return checkRuntime(ctx, core, parley.Agent{ID: n.ID, Name: n.Name, Kind: n.Kind, Profile: n.Profile})
}

// ChangeAgent lets change edit an agent's name, access and profile. Only an owner may. change may be
// called again, if somebody else changes the agent at the same time.
func (s *Service) ChangeAgent(ctx context.Context, caller unit.Caller, name string, change func(*parley.Agent) error) (parley.Agent, error) {
	for range maxOvertaken {
		after, err := tryChangeAgent(ctx, s.Core, caller, name, change)
		if err == nil {
			return after, nil
		}
		if !errors.Is(err, unit.ErrOvertaken) {
			return parley.Agent{}, err
		}
	}
	return parley.Agent{}, parley.Errorf(parley.Unavailable, "%s is being changed by others all the time", name).
		Retryable(0).Suggest("try again")
}

const maxOvertaken = 100

func tryChangeAgent(ctx context.Context, core *unit.Core, caller unit.Caller, name string, change func(*parley.Agent) error) (after parley.Agent, err error) {
	var before, edited parley.Agent
	err = core.View(ctx, caller, unit.OpChangeAgent, func(u *unit.Unit) (err error) {
		if before, err = changeable(u, name); err == nil {
			edited, err = changeable(u, name) // a copy of its own: change may write into its lists
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
		if err := checkRuntime(ctx, core, edited); err != nil {
			return after, err
		}
	}
	err = core.Update(ctx, caller, unit.OpChangeAgent, func(u *unit.Unit) (err error) {
		after, err = changeAgent(u, before, edited)
		return err
	})
	return after, err
}

func changeable(u *unit.Unit, name string) (parley.Agent, error) {
	a, err := agents.Agent(u, name)
	if err == nil && a.Kind == parley.KindSystem {
		err = parley.Errorf(parley.NotPermitted, "%s cannot be changed", a.ID).Suggest("it is the hub itself")
	}
	return a, err
}

func changeAgent(u *unit.Unit, before, edited parley.Agent) (parley.Agent, error) {
	after, err := changeable(u, before.ID)
	if err != nil {
		return after, err
	}
	if !reflect.DeepEqual(before, after) {
		return after, unit.ErrOvertaken
	}
	after.Name, after.Access, after.Profile, after.UpdatedAt = edited.Name, edited.Access, edited.Profile, u.Now
	if err := checkChanged(u, before, &after); err != nil {
		return after, err
	}
	err = agents.SaveRow(u.Tx, after)
	if errors.Is(err, parley.ErrTaken) {
		holder, err := u.Agents().Find(after.Name)
		if err != nil {
			return after, err
		}
		return after, agents.AgentNameHeld(after.Name, holder)
	}
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: after.ID})
	if err == nil && after.Manager != before.Manager {
		err = holding.PassApprovals(u, after.ID)
	}
	if err == nil && before.Runtime == parley.RuntimeBridge && after.Runtime != before.Runtime {
		err = departures.RecallAll(u, after.ID)
	}
	return after, errors.Join(err, access.Audit(u, "agent.change", after.ID, nil))
}

func checkChanged(u *unit.Unit, before parley.Agent, after *parley.Agent) error {
	if after.Name != before.Name {
		if err := parley.CheckName(after.Name); err != nil {
			return err
		}
	}
	if err := agents.CheckAccess(after.Kind, after.Access); err != nil {
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
	after.Manager, err = agents.Manager(u, after.ID, after.Manager)
	return err
}

// Agents lists the participants. Removed ones are left out.
func (s *Service) Agents(ctx context.Context, caller unit.Caller) (list []parley.Agent, err error) {
	err = s.View(ctx, caller, unit.OpListAgents, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		list, err = u.Agents().List()
		list = slices.DeleteFunc(list, func(a parley.Agent) bool { return a.RemovedAt != nil })
		for i := range list {
			list[i] = agents.Show(u, list[i])
		}
		return err
	})
	return list, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAgents})
}

// Agent shows one participant.
func (s *Service) Agent(ctx context.Context, caller unit.Caller, name string) (a parley.Agent, err error) {
	err = s.View(ctx, caller, unit.OpShowAgent, func(u *unit.Unit) error {
		if a, err = agentToRead(u, caller, &name); err == nil {
			a = agents.Show(u, a)
		}
		return err
	})
	return a, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowAgent, Subject: name})
}

// agentToRead finds a participant, whose id it puts in place of what it was called: a call that is held is for that
// one. A strict caller sees only itself by itself.
func agentToRead(u *unit.Unit, caller unit.Caller, name *string) (parley.Agent, error) {
	a, err := agents.Agent(u, *name)
	if err != nil {
		return a, err
	}
	if *name = a.ID; a.ID != u.Me.ID {
		err = policy.MustRead(u, unit.Origin{Caller: caller}, "")
	}
	return a, err
}

// RemoveAgent removes a participant: it leaves its channels and groups, its tokens are revoked, what was on
// its way to it has failed, and its names stay its own until an owner takes them for a new one. Only an owner may, and not of one that a bridge lists.
func (s *Service) RemoveAgent(ctx context.Context, caller unit.Caller, name string) error {
	err := s.Update(ctx, caller, unit.OpRemoveAgent, func(u *unit.Unit) error {
		a, err := agents.Agent(u, name)
		if err != nil {
			return err
		}
		if a.ID == parley.Owner || a.Kind == parley.KindSystem {
			return parley.Errorf(parley.NotPermitted, "%s cannot be removed", a.ID).Suggest("every hub has it")
		}
		if err := trees.MustSpeakNowhere(u, a.ID); err != nil {
			return err
		}
		a.RemovedAt, a.UpdatedAt = &u.Now, u.Now
		if err := leaveAll(u, a.ID); err != nil {
			return err
		}
		if err := dismissReports(u, a.ID); err != nil {
			return err
		}
		if err := access.RevokeAll(u, a.ID); err != nil {
			return err
		}
		if err := agents.SaveRow(u.Tx, a); err != nil {
			return err
		}
		live, err := u.Runs().Live(a.ID)
		if err == nil {
			err = turns.CancelAtOnce(u, live, a.ID+" was removed")
		}
		if err == nil {
			err = work.WithdrawApprovalsOf(u, a)
		}
		if err == nil {
			err = work.EndTasksOf(u, a)
		}
		if err != nil {
			return err
		}
		if err := work.FreeWaitsOf(u, a); err != nil {
			return err
		}
		u.Wake(a.ID) // who waits as it is told
		u.Note(parley.Event{Kind: parley.EventAgentRemoved, Agent: a.ID})
		return access.Audit(u, "agent.remove", a.ID, nil)
	})
	if err != nil {
		return err
	}
	// It is removed, whatever comes now: what is left on the way to it, the next sweep fails.
	if err := turns.FailOrphaned(context.WithoutCancel(ctx), s.Core); err != nil {
		s.Config.Log.Error("deliveries to a removed agent could not be failed, will try again", "agent", name, "error", err)
	}
	return nil
}

func leaveAll(u *unit.Unit, id string) error {
	kinds := []parley.ConversationKind{parley.Channel, parley.Group}
	for _, archived := range []bool{false, true} {
		filter := storage.ConversationFilter{Member: id, Kinds: kinds, Archived: archived, Limit: 1 << 30}
		list, err := u.Conversations().List(filter)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.FixedMembers() {
				continue
			}
			if err := conversations.TakeOut(u, conversations.Place{Conversation: c}, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// dismissReports leaves those whose manager is removed without one.
func dismissReports(u *unit.Unit, id string) error {
	list, err := u.Agents().List()
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.Manager != id {
			continue
		}
		a.Manager, a.UpdatedAt = "", u.Now
		if err := agents.SaveRow(u.Tx, a); err != nil {
			return err
		}
		u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
		if err := holding.PassApprovals(u, a.ID); err != nil {
			return err
		}
	}
	return nil
}

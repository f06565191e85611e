// Package roster holds the use cases of agents: adding, changing and removing them, reusing names, listing who does what.
package roster

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core

	reusing sync.Mutex // held while a new agent takes the names of a removed one
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// Agents lists the participants, without removed ones.
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
	return list, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAgents})
}

// Agent shows one participant.
func (s *Service) Agent(ctx context.Context, caller unit.Caller, name string) (a parley.Agent, err error) {
	err = s.View(ctx, caller, unit.OpShowAgent, func(u *unit.Unit) error {
		if a, err = agentToRead(u, caller, &name); err == nil {
			a = agents.Show(u, a)
		}
		return err
	})
	return a, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowAgent, Subject: name})
}

// agentToRead finds a participant. It replaces the name by the id, so that a held call keeps its participant. A strict agent
// needs an approval to see others.
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

// Protocols lists the formats that the hub speaks, and the formats of each agent by its profile. An agent that lives in a
// bridged tree speaks the tree's format.
func (s *Service) Protocols(ctx context.Context, caller unit.Caller) (parley.Spoken, error) {
	spoken := parley.Spoken{Protocols: parley.Protocols(), Agents: []parley.Speaker{}}
	err := s.View(ctx, caller, unit.OpListProtocols, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		agentsList, err := u.Agents().List()
		for _, a := range agentsList {
			if list := agents.SpokenBy(a); a.RemovedAt == nil && len(list) > 0 {
				spoken.Agents = append(spoken.Agents, parley.Speaker{
					Agent: a.ID, Protocols: list, Common: parley.Common(list, spoken.Protocols),
				})
			}
		}
		return err
	})
	return spoken, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAgents})
}

// Who lists what each participant is doing, without removed ones.
func (s *Service) Who(ctx context.Context, caller unit.Caller) (list []parley.Presence, err error) {
	err = s.View(ctx, caller, unit.OpWho, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		all, err := u.Agents().List()
		if err != nil {
			return err
		}
		inboxes, err := u.Queue().Inboxes()
		if err != nil {
			return err
		}
		healths, err := u.Agents().Healths()
		if err != nil {
			return err
		}
		u.SkipUnreadable(nil)
		work, err := presence.FindWork(u, "")
		if err != nil {
			return err
		}
		connected, err := sessions.OfAgents(u)
		if err != nil {
			return err
		}
		waits, err := presence.FindWaiting(u)
		for _, a := range all {
			if a.RemovedAt != nil {
				continue
			}
			p, err := presence.FindPresence(u, a, work[a.ID], waits[a.ID])
			if err != nil {
				return err
			}
			p.Inbox, p.Sessions = inboxes[a.ID], connected[a.ID]
			if health, reported := healths[a.ID]; reported {
				p.Health = &health
			}
			list = append(list, p)
		}
		return err
	})
	return list, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAgents})
}

// Named returns the names, kinds and roles of participants by their ids. It leaves out ids that nobody has.
func (s *Service) Named(ctx context.Context, caller unit.Caller, ids ...string) (list []parley.Presence, err error) {
	err = s.View(ctx, caller, unit.OpReadNames, func(u *unit.Unit) error {
		list, err = agents.NamesOf(u, ids...)
		return err
	})
	return list, err
}

// AgentView shows one participant and what it is doing.
func (s *Service) AgentView(ctx context.Context, caller unit.Caller, name string) (view parley.AgentView, err error) {
	err = s.View(ctx, caller, unit.OpShowAgent, func(u *unit.Unit) error {
		a, err := agentToRead(u, caller, &name)
		if err != nil {
			return err
		}
		view, err = presence.ViewAgent(u, a)
		return err
	})
	return view, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowAgent, Subject: name})
}

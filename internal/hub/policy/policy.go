// Package policy holds the rules on who may contact whom, the modes of agents, and which calls need an approval first.
package policy

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// New returns the use cases of this package on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// The rows of this package are written here and nowhere else.

// SaveRule stores a rule.
func SaveRule(tx storage.Tx, p parley.Permission) error {
	return tx.Permissions().Put(p)
}

// Permit adds a rule, or replaces the rule with the same agent, target and effect. Only an owner may call it.
func (s *Service) Permit(ctx context.Context, caller unit.Caller, p parley.Permission) (parley.Permission, error) {
	if err := p.Check(); err != nil {
		return p, err
	}
	err := s.Update(ctx, caller, unit.OpPermit, func(u *unit.Unit) (err error) {
		if p.Agent, p.Target, err = rulePair(u, p.Agent, p.Target); err != nil {
			return err
		}
		p.RequiresApproval = p.RequiresApproval || p.RequiresHuman
		p.CreatedBy, p.CreatedAt = u.Me.ID, u.Now
		if err := SaveRule(u.Tx, p); err != nil {
			return err
		}
		return noteRule(u, "permit."+string(p.Effect), p)
	})
	return p, err
}

// rulePair finds the agent and the target of a rule.
func rulePair(u *unit.Unit, agent, target string) (string, string, error) {
	from, err := agents.Agent(u, agent)
	if err != nil || target == parley.Anyone {
		return from.ID, target, err
	}
	to, err := agents.Agent(u, target)
	if err == nil && (from.ID == to.ID || from.Kind == parley.KindSystem || to.Kind == parley.KindSystem) {
		err = parley.Errorf(parley.BadInput, "there are no rules for %s and %s", from.ID, to.ID).Suggest("name two agents or people")
	}
	return from.ID, to.ID, err
}

// noteRule notes the event about a rule, and audits it.
func noteRule(u *unit.Unit, act string, p parley.Permission) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventPermission, Agent: p.Agent, Data: data})
	return access.Audit(u, act, p.Agent, map[string]any{
		"target": p.Target, "effect": p.Effect, "requires_approval": p.RequiresApproval, "requires_human": p.RequiresHuman,
	})
}

// Unpermit removes the rules of an agent for a target: those of one effect, or of both. Only an owner may call it. It
// returns E003 if there is no such rule.
func (s *Service) Unpermit(ctx context.Context, caller unit.Caller, agent, target string, effect parley.Effect) error {
	effects := []parley.Effect{effect}
	switch effect {
	case "":
		effects = []parley.Effect{parley.EffectAllow, parley.EffectDeny}
	case parley.EffectAllow, parley.EffectDeny:
	default:
		return parley.Errorf(parley.BadInput, "unknown effect %q", effect).Suggest("use allow or deny, or leave it out")
	}
	return s.Update(ctx, caller, unit.OpUnpermit, func(u *unit.Unit) error {
		from, to, err := oldPair(u, agent, target)
		if err != nil {
			return err
		}
		removed := 0
		for _, effect := range effects {
			err := u.Permissions().Remove(from, to, effect)
			if errors.Is(err, parley.ErrNotFound) {
				continue
			}
			if err == nil {
				removed++
				err = noteRule(u, "permit.remove", parley.Permission{Agent: from, Target: to, Effect: effect})
			}
			if err != nil {
				return err
			}
		}
		if removed == 0 {
			return parley.Errorf(parley.BadInput, "there is no such rule for %s and %s", from, to).Because(parley.NotFound).
				Suggest("list the rules: parley permit list")
		}
		return nil
	})
}

// oldPair is rulePair for rules of agents that may have been removed.
func oldPair(u *unit.Unit, agent, target string) (from, to string, err error) {
	if from, err = agents.Named(u, agent); err != nil || target == parley.Anyone {
		return from, target, err
	}
	to, err = agents.Named(u, target)
	return from, to, err
}

// Permissions lists rules. Owners see those of one agent or of all, other callers see their own.
func (s *Service) Permissions(ctx context.Context, caller unit.Caller, agent string) (list []parley.Permission, err error) {
	err = s.View(ctx, caller, unit.OpListPermissions, func(u *unit.Unit) error {
		if agent == "" && u.SeesAll() {
			list, err = u.Permissions().List()
			return err
		}
		holder, err := ruledAgent(u, agent)
		if err == nil {
			list, err = u.Permissions().OfAgent(holder.ID)
		}
		return err
	})
	return list, err
}

// ruledAgent returns the agent whose rules the caller reads: the caller itself, or, for an owner, any agent.
func ruledAgent(u *unit.Unit, name string) (parley.Agent, error) {
	if name == "" {
		return u.Me, nil
	}
	a, err := agents.Agent(u, name)
	if err == nil && a.ID != u.Me.ID {
		err = u.MustOwn("see the rules of others")
	}
	return a, err
}

// CheckPermission returns whether one participant may contact another, the rule that decided, and each rule that was checked
// before.
func (s *Service) CheckPermission(ctx context.Context, caller unit.Caller, from, to string) (v parley.Verdict, err error) {
	err = s.View(ctx, caller, unit.OpCheckPermission, func(u *unit.Unit) error {
		source, err := ruledAgent(u, from)
		if err != nil {
			return err
		}
		target, err := agents.Agent(u, to)
		if err != nil {
			return err
		}
		v, err = mayContact(u.As(source), target)
		return err
	})
	return v, err
}

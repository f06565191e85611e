package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// Permit adds a rule, or replaces the one with the same agent, target and effect. Only an owner may.
func (h *Hub) Permit(ctx context.Context, caller Caller, p parley.Permission) (parley.Permission, error) {
	if err := p.Check(); err != nil {
		return p, err
	}
	err := h.update(ctx, caller, opPermit, func(s *scene) (err error) {
		if p.Agent, p.Target, err = s.rulePair(p.Agent, p.Target); err != nil {
			return err
		}
		p.RequiresApproval = p.RequiresApproval || p.RequiresHuman
		p.CreatedBy, p.CreatedAt = s.me.ID, s.now
		if err := s.Permissions().Put(p); err != nil {
			return err
		}
		return s.noteRule("permit."+string(p.Effect), p)
	})
	return p, err
}

// rulePair finds those whom a rule is about.
func (s *scene) rulePair(agent, target string) (string, string, error) {
	from, err := s.agent(agent)
	if err != nil || target == parley.Anyone {
		return from.ID, target, err
	}
	to, err := s.agent(target)
	if err == nil && (from.ID == to.ID || from.Kind == parley.KindSystem || to.Kind == parley.KindSystem) {
		err = parley.Errorf(parley.BadInput, "there are no rules for %s and %s", from.ID, to.ID).Suggest("name two agents or people")
	}
	return from.ID, to.ID, err
}

func (s *scene) noteRule(act string, p parley.Permission) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventPermission, Agent: p.Agent, Data: data})
	return s.audit(act, p.Agent, map[string]any{
		"target": p.Target, "effect": p.Effect, "requires_approval": p.RequiresApproval, "requires_human": p.RequiresHuman,
	})
}

// Unpermit removes the rules of an agent for a target: of one effect, or of both. Only an owner may.
func (h *Hub) Unpermit(ctx context.Context, caller Caller, agent, target string, effect parley.Effect) error {
	effects := []parley.Effect{effect}
	switch effect {
	case "":
		effects = []parley.Effect{parley.EffectAllow, parley.EffectDeny}
	case parley.EffectAllow, parley.EffectDeny:
	default:
		return parley.Errorf(parley.BadInput, "unknown effect %q", effect).Suggest("use allow or deny, or leave it out")
	}
	return h.update(ctx, caller, opUnpermit, func(s *scene) error {
		from, to, err := s.oldPair(agent, target)
		if err != nil {
			return err
		}
		removed := 0
		for _, effect := range effects {
			err := s.Permissions().Remove(from, to, effect)
			if errors.Is(err, parley.ErrNotFound) {
				continue
			}
			if err == nil {
				removed++
				err = s.noteRule("permit.remove", parley.Permission{Agent: from, Target: to, Effect: effect})
			}
			if err != nil {
				return err
			}
		}
		if removed == 0 {
			return parley.Errorf(parley.BadInput, "there is no such rule for %s and %s", from, to).Because(parley.NotFound).
				Suggest("see the rules there are: parley permit list")
		}
		return nil
	})
}

// oldPair is rulePair for a rule that may be about somebody who was removed.
func (s *scene) oldPair(agent, target string) (from, to string, err error) {
	if from, err = s.named(agent); err != nil || target == parley.Anyone {
		return from, target, err
	}
	to, err = s.named(target)
	return from, to, err
}

// Permissions lists rules: for owners of all agents or of one, for others their own.
func (h *Hub) Permissions(ctx context.Context, caller Caller, agent string) (list []parley.Permission, err error) {
	err = h.view(ctx, caller, opListPermissions, func(s *scene) error {
		if agent == "" && s.seesAll() {
			list, err = s.Permissions().List()
			return err
		}
		whose, err := s.ruledAgent(agent)
		if err == nil {
			list, err = s.Permissions().Of(whose.ID)
		}
		return err
	})
	return list, err
}

// ruledAgent is whose rules the caller looks at: its own, or, for an owner, anybody's.
func (s *scene) ruledAgent(name string) (parley.Agent, error) {
	if name == "" {
		return s.me, nil
	}
	a, err := s.agent(name)
	if err == nil && a.ID != s.me.ID {
		err = s.mustOwn("see the rules of others")
	}
	return a, err
}

// CheckPermission says whether one participant may contact another, and which rules say so: the one that decided, and
// each that was passed on the way.
func (h *Hub) CheckPermission(ctx context.Context, caller Caller, from, to string) (v parley.Verdict, err error) {
	err = h.view(ctx, caller, opCheckPermission, func(s *scene) error {
		who, err := s.ruledAgent(from)
		if err != nil {
			return err
		}
		target, err := s.agent(to)
		if err != nil {
			return err
		}
		v, err = s.As(who).mayContact(target)
		return err
	})
	return v, err
}

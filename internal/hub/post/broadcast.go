package post

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SpreadTo has a post reach every agent that its sender may contact by itself, of a tier where one is given. Whose inbox is
// full is not woken: one that is behind does not keep the others from being told.
func SpreadTo(u *unit.Unit, tier parley.Tier, p *Posting) (notices []string, err error) {
	where, err := messages.Broadcasts(u)
	if err != nil {
		return nil, err
	}
	all, err := u.Agents().List()
	if err != nil {
		return nil, err
	}
	p.everybody = []parley.Reach{}
	var barred []string
	for _, a := range all {
		if a.Kind != parley.KindAgent || a.RemovedAt != nil || a.ID == u.Me.ID || tier != "" && a.Tier != tier {
			continue
		}
		v, err := policy.Rules(u, a)
		if err != nil {
			return notices, err
		}
		if !v.Allowed || v.RequiresApproval {
			barred = append(barred, a.ID)
			continue
		}
		if err := trees.MustReach(u, a); parley.CodeOf(err) == parley.Unavailable {
			notices = append(notices, a.ID+" is not told: "+parley.AsError(err).Message)
			continue
		} else if err != nil {
			return notices, err
		}
		full, err := messages.InboxIsFull(u, a)
		if err == nil {
			err = messages.JoinOnce(u, where, a.ID)
		}
		if err != nil {
			return notices, err
		}
		if full {
			notices = append(notices, a.ID+" was not woken: its inbox is full")
		}
		p.everybody = append(p.everybody, parley.Reach{Agent: a.ID, Wakes: !full && p.Draft.Type.Wakes()})
	}
	if len(p.everybody)+len(notices) == 0 {
		notices = append(notices, messages.ReachedNobody(u, tier, barred))
	}
	return notices, nil
}

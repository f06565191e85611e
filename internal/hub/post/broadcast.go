package post

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SpreadTo sets the recipients of a post to all agents that its sender may contact without an approval; with a tier, to those of the
// tier. An agent whose inbox is full gets the message and is not woken. The notices name the agents that do not get it.
func SpreadTo(u *unit.Unit, tier parley.Tier, p *Posting) (notices []string, err error) {
	where, err := messages.BroadcastChannel(u)
	if err != nil {
		return nil, err
	}
	all, err := u.Agents().List()
	if err != nil {
		return nil, err
	}
	p.everyone = []parley.NewDelivery{}
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
		if err := trees.CheckReachable(u, a); parley.CodeOf(err) == parley.Unavailable {
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
		p.everyone = append(p.everyone, parley.NewDelivery{Agent: a.ID, Wakes: !full && p.Draft.Type.Wakes()})
	}
	if len(p.everyone)+len(notices) == 0 {
		notices = append(notices, messages.ReachedNobody(u, tier, barred))
	}
	return notices, nil
}

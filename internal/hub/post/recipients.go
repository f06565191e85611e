package post

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// resolveRecipients resolves the mentions of a message and returns the participants that get it. A participant that the message names
// joins a public channel. Elsewhere resolveRecipients tells the sender that the participant is not woken.
func resolveRecipients(u *unit.Unit, m *parley.Message, p Posting, where conversations.Place, receipt *parley.Receipt) ([]parley.NewDelivery, error) {
	present := &conversations.MemberCache{Unit: u, Conv: where.Conversation, Known: map[string]bool{u.Me.ID: where.Joined}}
	var err error
	if m.Mentions, u.UnknownNames, err = resolveMentions(u, p.mentions, present); err != nil {
		return nil, err
	}
	if m.To != "" && m.To != parley.All {
		if err := conversations.Bring(u, m.To, where, present); err != nil {
			return nil, err
		}
	}
	for _, id := range m.Mentions {
		if id == parley.All || id == parley.System {
			continue
		}
		err := joinMentioned(u, p, id, where, present)
		if parley.CodeOf(err) == parley.BadInput {
			receipt.Notices = append(receipt.Notices, id+" was not woken: "+parley.AsError(err).Suggestion)
		} else if err != nil {
			return nil, err
		}
	}
	if p.everyone != nil {
		return p.everyone, nil
	}
	members, err := present.Reached(*m)
	if err != nil {
		return nil, err
	}
	if p.runAnswer {
		reached, err := answerRecipients(u, *m, &p, present, members)
		return reached, errors.Join(err, muteMentions(u, p, *m, where, reached, receipt))
	}
	remaining, removed, err := withoutRemoved(u, members)
	if err != nil {
		return nil, err
	}
	for _, name := range removed {
		receipt.Notices = append(receipt.Notices, name+" was removed and does not receive this")
	}
	reached := m.NewDeliveries(where.Conversation, remaining, u.Me.Kind == parley.KindHuman)
	if len(reached) == 0 && len(removed) > 0 {
		return nil, agents.RemovedError(removed[0])
	}
	return reached, muteMentions(u, p, *m, where, reached, receipt)
}

// joinMentioned adds a mentioned participant to a public channel, unless the sender may not contact that participant. E003 if the
// participant cannot join; the suggestion says why.
func joinMentioned(u *unit.Unit, p Posting, id string, where conversations.Place, present *conversations.MemberCache) error {
	in, err := present.Has(id)
	if err != nil || in || !where.ReadableByAll() || u.SeesAll() {
		return errors.Join(err, conversations.Bring(u, id, where, present))
	}
	muted, err := muteReason(u, p, where, id)
	if err == nil && muted != "" {
		err = parley.Errorf(parley.BadInput, "%s is not to be contacted", id).Suggest("%s", muted)
	}
	if err != nil {
		return err
	}
	return conversations.Bring(u, id, where, present)
}

// resolveMentions returns the ids of the participants that a text mentions, and the names that no participant has.
func resolveMentions(u *unit.Unit, calls parley.Mentions, present *conversations.MemberCache) (ids, unknown []string, err error) {
	named := func(name string) (string, bool) {
		if parley.Fold(name) == parley.All {
			return parley.All, true
		}
		a, findErr := u.Agents().Find(name)
		if findErr != nil && !errors.Is(findErr, parley.ErrNotFound) {
			err = findErr
		}
		return a.ID, findErr == nil && a.RemovedAt == nil
	}
	participant := func(id string) bool {
		a, ok := named(id)
		if !ok || a != id || id == parley.All {
			return false
		}
		in, inErr := present.Has(id)
		if inErr != nil {
			err = inErr
		}
		return in
	}
	ids, unknown = calls.Resolve(named, participant)
	if err != nil {
		return nil, nil, err
	}
	if limit := u.Core.Config.Limits.Mentions; len(ids) > limit {
		return nil, nil, parley.Errorf(parley.BadInput, "the text mentions %d participants, the limit is %d", len(ids), limit).
			Because(parley.TooLarge).Suggest("mention fewer, or @all")
	}
	return ids, unknown, nil
}

// withoutRemoved separates the participants that exist from those that were removed. It returns the ids of the first and the names of
// the others.
func withoutRemoved(u *unit.Unit, ids []string) (remaining, removed []string, err error) {
	for _, id := range ids {
		a, err := u.Agents().Find(id)
		if err != nil {
			return nil, nil, err
		}
		if a.RemovedAt == nil {
			remaining = append(remaining, id)
		} else {
			removed = append(removed, a.Name)
		}
	}
	return remaining, removed, nil
}

// wakesInTree reports whether one of the agents that a message wakes lives in a directory tree.
func wakesInTree(u *unit.Unit, to []parley.NewDelivery) (bool, error) {
	for _, r := range to {
		if !r.Wakes {
			continue
		}
		a, err := u.Agents().Find(r.Agent)
		if err != nil || a.Runtime == parley.RuntimeBridge {
			return err == nil, err
		}
	}
	return false, nil
}

// SetBroadcastRecipients sets the recipients of a post to all agents that its sender may contact without an approval; with a tier, to those of the
// tier. An agent whose inbox is full gets the message and is not woken. The notices name the agents that do not get it.
func SetBroadcastRecipients(u *unit.Unit, tier parley.Tier, p *Posting) (notices []string, err error) {
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
			notices = append(notices, a.ID+" does not receive this: "+parley.AsError(err).Message)
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

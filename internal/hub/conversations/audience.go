package conversations

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MemberCache answers who the members of one conversation are. It asks the store only about members that it does not know yet.
type MemberCache struct {
	*unit.Unit
	Conv  parley.Conversation
	Known map[string]bool
}

// Has reports whether an agent is a member.
func (p *MemberCache) Has(id string) (bool, error) {
	if in, ok := p.Known[id]; ok {
		return in, nil
	}
	in, err := TakesPart(p.Unit, p.Conv, id)
	if err == nil {
		p.Known[id] = in
	}
	return in, err
}

// Reached returns the members that a message can reach: all members if the message is for all, and else the named ones.
func (p *MemberCache) Reached(m parley.Message) ([]string, error) {
	named := append([]string{m.To}, m.Mentions...)
	for _, id := range named {
		if id == parley.All {
			return p.all()
		}
	}
	if p.Conv.FixedMembers() {
		return p.all()
	}
	var ids []string
	seen := map[string]bool{"": true}
	for _, id := range named {
		if !seen[id] && p.Known[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids, nil
}

// all returns the ids of all members.
func (p *MemberCache) all() ([]string, error) {
	if p.Conv.FixedMembers() {
		return p.Conv.FixedMemberIDs(), nil
	}
	members, err := p.Members().List(p.Conv.ID)
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.Agent
	}
	return ids, err
}

// Bring makes an addressed agent a member of a public channel. In other conversations it returns E003, which says how to add
// the agent.
func Bring(u *unit.Unit, id string, where Place, present *MemberCache) error {
	in, err := present.Has(id)
	if err != nil || in {
		return err
	}
	switch {
	case where.ReadableByAll():
		present.Known[id] = true
		return Join(u, where.Conversation, id)
	case where.FixedMembers():
		return parley.Errorf(parley.BadInput, "%s is not a member of this conversation", id).
			Suggest("its members are fixed: write to %s directly, or use a channel", id)
	default:
		return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, where.Title()).
			Suggest("add the agent first: parley conv add %s %s", where.Name, id)
	}
}

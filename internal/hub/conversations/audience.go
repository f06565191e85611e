package conversations

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Presence knows who is in a conversation and asks the store no more than it must.
type Presence struct {
	*unit.Unit
	Conv  parley.Conversation
	Known map[string]bool
}

func (p *Presence) Has(id string) (bool, error) {
	if in, ok := p.Known[id]; ok {
		return in, nil
	}
	in, err := TakesPart(p.Unit, p.Conv, id)
	if err == nil {
		p.Known[id] = in
	}
	return in, err
}

// Reached are the members a message can reach: all of them where it is for all, else those named.
func (p *Presence) Reached(m parley.Message) ([]string, error) {
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

func (p *Presence) all() ([]string, error) {
	if p.Conv.FixedMembers() {
		return p.Conv.SetMembers(), nil
	}
	members, err := p.Members().List(p.Conv.ID)
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.Agent
	}
	return ids, err
}

// Bring makes somebody who is addressed part of a public channel. Elsewhere E003 says how to add
// them.
func Bring(u *unit.Unit, id string, where Place, present *Presence) error {
	in, err := present.Has(id)
	if err != nil || in {
		return err
	}
	switch {
	case where.ReadableByAll():
		present.Known[id] = true
		return Join(u, where.Conversation, id)
	case where.FixedMembers():
		return parley.Errorf(parley.BadInput, "%s does not take part in this conversation", id).
			Suggest("its members are fixed: write to %s directly, or use a channel", id)
	default:
		return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, where.Title()).
			Suggest("add them first: parley conv add %s %s", where.Name, id)
	}
}

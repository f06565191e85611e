package hub

import (
	"errors"

	"github.com/parley-hub/parley"
)

// audience resolves whom a message mentions and works out whom it reaches. Somebody named who is
// not in a public channel joins it; elsewhere the sender is told.
func (s *scene) audience(m *parley.Message, p post, where place, receipt *parley.Receipt) ([]parley.Reach, error) {
	present := &presence{scene: s, conv: where.Conversation, known: map[string]bool{s.me.ID: where.joined}}
	var err error
	if m.Mentions, s.unknown, err = s.mentioned(p.calls, present); err != nil {
		return nil, err
	}
	if m.To != "" && m.To != parley.All {
		if err := s.bring(m.To, where, present); err != nil {
			return nil, err
		}
	}
	for _, id := range m.Mentions {
		if id == parley.All || id == parley.System {
			continue
		}
		err := s.bringMentioned(p, id, where, present)
		if parley.CodeOf(err) == parley.BadInput {
			receipt.Notices = append(receipt.Notices, id+" was not woken: "+parley.AsError(err).Suggestion)
		} else if err != nil {
			return nil, err
		}
	}
	if p.spread != nil {
		return p.spread, nil
	}
	members, err := present.reached(*m)
	if err != nil {
		return nil, err
	}
	if p.answers {
		reached, err := s.answerReaches(*m, &p, present, members)
		return reached, errors.Join(err, s.mute(p, *m, where, reached, receipt))
	}
	here, gone, err := s.stillHere(members)
	if err != nil {
		return nil, err
	}
	for _, name := range gone {
		receipt.Notices = append(receipt.Notices, name+" was removed and does not receive this")
	}
	reached := m.Reaches(where.Conversation, here, s.me.Kind == parley.KindHuman)
	if len(reached) == 0 && len(gone) > 0 {
		return nil, wasRemoved(gone[0])
	}
	return reached, s.mute(p, *m, where, reached, receipt)
}

// bringMentioned is bring for somebody who is only mentioned. Whom the sender may not contact does not join for it.
func (s *scene) bringMentioned(p post, id string, where place, present *presence) error {
	in, err := present.has(id)
	if err != nil || in || !where.ReadableByAll() || s.seesAll() {
		return errors.Join(err, s.bring(id, where, present))
	}
	why, err := s.muted(p, where, id)
	if err == nil && why != "" {
		err = parley.Errorf(parley.BadInput, "%s is not to be contacted", id).Suggest("%s", why)
	}
	if err != nil {
		return err
	}
	return s.bring(id, where, present)
}

func (s *scene) mentioned(calls parley.Mentions, present *presence) (ids, unknown []string, err error) {
	named := func(name string) (string, bool) {
		if parley.Fold(name) == parley.All {
			return parley.All, true
		}
		a, findErr := s.Agents().Find(name)
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
		in, inErr := present.has(id)
		if inErr != nil {
			err = inErr
		}
		return in
	}
	ids, unknown = calls.Resolve(named, participant)
	if err != nil {
		return nil, nil, err
	}
	if most := s.hub.config.Limits.Mentions; len(ids) > most {
		return nil, nil, parley.Errorf(parley.BadInput, "the text mentions %d participants, the limit is %d", len(ids), most).
			Because(parley.TooLarge).Suggest("mention fewer, or @all")
	}
	return ids, unknown, nil
}

// bring makes somebody who is addressed part of a public channel. Elsewhere E003 says how to add
// them.
func (s *scene) bring(id string, where place, present *presence) error {
	in, err := present.has(id)
	if err != nil || in {
		return err
	}
	switch {
	case where.ReadableByAll():
		present.known[id] = true
		return s.join(where.Conversation, id)
	case where.FixedMembers():
		return parley.Errorf(parley.BadInput, "%s does not take part in this conversation", id).
			Suggest("its members are fixed: write to %s directly, or use a channel", id)
	default:
		return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, where.Title()).
			Suggest("add them first: parley conv add %s %s", where.Name, id)
	}
}

// stillHere parts members from those that have been removed.
func (s *scene) stillHere(ids []string) (here, gone []string, err error) {
	for _, id := range ids {
		a, err := s.Agents().Find(id)
		if err != nil {
			return nil, nil, err
		}
		if a.RemovedAt == nil {
			here = append(here, id)
		} else {
			gone = append(gone, a.Name)
		}
	}
	return here, gone, nil
}

// presence knows who is in a conversation and asks the store no more than it must.
type presence struct {
	*scene
	conv  parley.Conversation
	known map[string]bool
}

func (p *presence) has(id string) (bool, error) {
	if in, ok := p.known[id]; ok {
		return in, nil
	}
	in, err := p.takesPart(p.conv, id)
	if err == nil {
		p.known[id] = in
	}
	return in, err
}

// reached are the members a message can reach: all of them where it is for all, else those named.
func (p *presence) reached(m parley.Message) ([]string, error) {
	named := append([]string{m.To}, m.Mentions...)
	for _, id := range named {
		if id == parley.All {
			return p.all()
		}
	}
	if p.conv.FixedMembers() {
		return p.all()
	}
	var ids []string
	seen := map[string]bool{"": true}
	for _, id := range named {
		if !seen[id] && p.known[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids, nil
}

func (p *presence) all() ([]string, error) {
	if p.conv.FixedMembers() {
		return p.conv.SetMembers(), nil
	}
	members, err := p.Members().List(p.conv.ID)
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.Agent
	}
	return ids, err
}

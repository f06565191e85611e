package hub

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// origin is what a post comes from.
func (p post) origin() origin {
	return origin{caller: Caller{Run: p.run}, run: p.by, approved: p.approved}
}

// guard refuses or holds a post by the rules for those it is for, and by the mode of its sender. A run's answer, and
// the answer to a message that was delivered to the sender, pass: whoever may ask gets an answer.
func (s *scene) guard(p *post, m parley.Message, where place, parent *parley.Message) error {
	if p.answers || p.request || s.seesAll() {
		return nil
	}
	answers, err := s.answersDelivered(p, parent)
	if err != nil {
		return err
	}
	targets := s.directTargets(m, where, parent, answers)
	p.free = slices.Clone(targets) // once they have passed
	if answers {
		p.free = append(p.free, parent.From)
	}
	for _, id := range targets {
		target, err := s.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := s.rulesIn(where, target)
		if err == nil && target.RemovedAt == nil {
			err = s.obeyVerdict(p.origin(), v, target)
		}
		if err != nil {
			return err
		}
	}
	if answers && p.run == "" || p.beats { // a run's trigger is the conversation that woke it
		return nil
	}
	if free, err := s.amongRelated(where.Conversation); free || err != nil {
		return err
	}
	err = s.mustWrite(p.origin(), where.ID)
	if why, held := errors.AsType[heldBy](err); held && len(targets) == 1 {
		why.target = targets[0]
		return why
	}
	return err
}

// settled lets a post that is held go where it goes now, whatever is renamed until it is approved.
func (p post) settled(err error, m parley.Message, where place) error {
	why, held := errors.AsType[heldBy](err)
	if !held {
		return err
	}
	d := p.draft
	d.To = m.To
	switch {
	case len(d.Direct) > 0:
		d.Direct = slices.DeleteFunc(where.SetMembers(), func(id string) bool { return id == m.From })
	case !where.made: // else it is made when it is posted
		d.Conversation, d.Make = where.ID, false
	}
	why.draft = &d
	return why
}

// answersDelivered says whether a post answers a message that was delivered to its sender: it replies to what woke the
// sender's run, or it is the first reply to a message that the sender can still answer. Any other reply is a contact.
func (s *scene) answersDelivered(p *post, parent *parley.Message) (bool, error) {
	if parent == nil {
		return false, nil
	}
	if p.by != nil && slices.Contains(p.by.Triggers, parent.ID) {
		return true, nil
	}
	d, err := s.Deliveries().Get(parent.ID, s.me.ID)
	return err == nil && d.Answerable(), ignoreNotFound(err)
}

// directTargets are those a message is for by its address. Those it only mentions are looked at by mute. An answer
// is for whoever reads the conversation, and for one that did not ask only if it says so.
func (s *scene) directTargets(m parley.Message, where place, parent *parley.Message, answers bool) (ids []string) {
	members := where.SetMembers()
	if !answers {
		ids = slices.DeleteFunc(slices.Clone(members), func(id string) bool { return id == s.me.ID })
	}
	asked := answers && m.To == parent.From
	if m.To != "" && m.To != parley.All && !slices.Contains(members, m.To) && !asked {
		ids = append(ids, m.To)
	}
	return ids
}

// amongRelated reports whether all others in a fixed conversation are the caller's manager or reports. The caller may write
// to these in every mode.
func (s *scene) amongRelated(c parley.Conversation) (bool, error) {
	if s.me.Mode == parley.ModeAutonomous || !c.FixedMembers() {
		return false, nil
	}
	for _, id := range c.SetMembers() {
		if id == s.me.ID {
			continue
		}
		other, err := s.Agents().Find(id)
		if err != nil {
			return false, err
		}
		if v, err := s.rules(other); err != nil || !v.Free {
			return false, err
		}
	}
	return true, nil
}

// rulesIn are the rules for a recipient that is in the conversation. A recipient that joins because of the message is added
// to it. Then the sender's mode counts too, even in the conversation that woke the sender.
func (s *scene) rulesIn(where place, target parley.Agent) (parley.Verdict, error) {
	v, err := s.rules(target)
	if err != nil || s.me.Mode == parley.ModeAutonomous || where.FixedMembers() {
		return v, err
	}
	if in, err := s.takesPart(where.Conversation, target.ID); in || err != nil {
		return v, err
	}
	return v.ByMode(s.me.Mode), nil
}

// muted says why somebody who is mentioned is not woken, or nothing.
func (s *scene) muted(p post, where place, id string) (string, error) {
	target, err := s.Agents().Find(id)
	if err != nil {
		return "", err
	}
	v, err := s.rulesIn(where, target)
	if err != nil || target.ID == s.me.ID {
		return "", err
	}
	err = s.obeyVerdict(p.origin(), v, target)
	switch _, held := errors.AsType[heldBy](err); {
	case err == nil:
		return "", nil
	case held:
		return "contacting it needs an approval: use contact_agent", nil
	}
	e := parley.AsError(err)
	return e.Message + ": contact_agent would say " + e.Suggestion, nil
}

// mute lets a message wake nobody by a mention whom its sender may not contact, and tells the sender.
func (s *scene) mute(p post, m parley.Message, where place, to []parley.Reach, receipt *parley.Receipt) error {
	if s.seesAll() || p.request {
		return nil
	}
	all := slices.Contains(m.Mentions, parley.All)
	var byAll []string
	for i := range to {
		id := to[i].Agent
		named := slices.Contains(m.Mentions, id)
		if !to[i].Wakes || !named && !all || slices.Contains(p.free, id) {
			continue
		}
		why, err := s.muted(p, where, id)
		if err != nil {
			return err
		}
		switch {
		case why == "":
			continue
		case named:
			receipt.Notices = append(receipt.Notices, id+" was not woken: "+why)
		default:
			byAll = append(byAll, id)
		}
		to[i].Wakes = false
	}
	if len(byAll) > 0 {
		receipt.Notices = append(receipt.Notices, "@all did not wake whom you may not contact, or only with approval: "+strings.Join(byAll, ", "))
	}
	return nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

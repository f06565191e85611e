package post

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// origin is what a post comes from.
func (p Posting) origin() unit.Origin {
	return unit.Origin{Caller: unit.Caller{Run: p.Run}, Run: p.By, Approved: p.approved}
}

// checkRules refuses or holds a post by the rules for those it is for, and by the mode of its sender. A run's answer, and
// the answer to a message that was delivered to the sender, pass: whoever may ask gets an answer.
func checkRules(u *unit.Unit, p *Posting, m parley.Message, where conversations.Place, parent *parley.Message) error {
	if p.runAnswer || p.Request || u.SeesAll() {
		return nil
	}
	answers, err := answersDelivery(u, p, parent)
	if err != nil {
		return err
	}
	targets := directTargets(u, m, where, parent, answers)
	p.mayWake = slices.Clone(targets) // once they have passed
	if answers {
		p.mayWake = append(p.mayWake, parent.From)
	}
	for _, id := range targets {
		target, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := verdictIn(u, where, target)
		if err == nil && target.RemovedAt == nil {
			err = policy.ObeyVerdict(u, p.origin(), v, target)
		}
		if err != nil {
			return err
		}
	}
	if answers && p.Run == "" || p.onlyHealth { // a run's trigger is the conversation that woke it
		return nil
	}
	if free, err := amongRelated(u, where.Conversation); free || err != nil {
		return err
	}
	err = policy.MustWrite(u, p.origin(), where.ID)
	if why, held := errors.AsType[unit.HeldBy](err); held && len(targets) == 1 {
		why.Target = targets[0]
		return why
	}
	return err
}

// pinHeld lets a post that is held go where it goes now, whatever is renamed until it is approved.
func (p Posting) pinHeld(err error, m parley.Message, where conversations.Place) error {
	why, held := errors.AsType[unit.HeldBy](err)
	if !held {
		return err
	}
	d := p.Draft
	d.To = m.To
	switch {
	case len(d.Direct) > 0:
		d.Direct = slices.DeleteFunc(where.SetMembers(), func(id string) bool { return id == m.From })
	case !where.Made: // else it is made when it is posted
		d.Conversation, d.Make = where.ID, false
	}
	why.Draft = &d
	return why
}

// answersDelivery says whether a post answers a message that was delivered to its sender: it replies to what woke the
// sender's run, or it is the first reply to a message that the sender can still answer. Any other reply is a contact.
func answersDelivery(u *unit.Unit, p *Posting, parent *parley.Message) (bool, error) {
	if parent == nil {
		return false, nil
	}
	if p.By != nil && slices.Contains(p.By.Triggers, parent.ID) {
		return true, nil
	}
	d, err := u.Deliveries().Get(parent.ID, u.Me.ID)
	return err == nil && d.Answerable(), unit.IgnoreNotFound(err)
}

// directTargets are those a message is for by its address. Those it only mentions are looked at by mute. An answer
// is for whoever reads the conversation, and for one that did not ask only if it says so.
func directTargets(u *unit.Unit, m parley.Message, where conversations.Place, parent *parley.Message, answers bool) (ids []string) {
	members := where.SetMembers()
	if !answers {
		ids = slices.DeleteFunc(slices.Clone(members), func(id string) bool { return id == u.Me.ID })
	}
	asked := answers && m.To == parent.From
	if m.To != "" && m.To != parley.All && !slices.Contains(members, m.To) && !asked {
		ids = append(ids, m.To)
	}
	return ids
}

// amongRelated reports whether all others in a fixed conversation are the caller's manager or reports. The caller may write
// to these in every mode.
func amongRelated(u *unit.Unit, c parley.Conversation) (bool, error) {
	if u.Me.Mode == parley.ModeAutonomous || !c.FixedMembers() {
		return false, nil
	}
	for _, id := range c.SetMembers() {
		if id == u.Me.ID {
			continue
		}
		other, err := u.Agents().Find(id)
		if err != nil {
			return false, err
		}
		if v, err := policy.Rules(u, other); err != nil || !v.Free {
			return false, err
		}
	}
	return true, nil
}

// verdictIn are the rules for a recipient that is in the conversation. A recipient that joins because of the message is added
// to it. Then the sender's mode counts too, even in the conversation that woke the sender.
func verdictIn(u *unit.Unit, where conversations.Place, target parley.Agent) (parley.Verdict, error) {
	v, err := policy.Rules(u, target)
	if err != nil || u.Me.Mode == parley.ModeAutonomous || where.FixedMembers() {
		return v, err
	}
	if in, err := conversations.TakesPart(u, where.Conversation, target.ID); in || err != nil {
		return v, err
	}
	return v.ByMode(u.Me.Mode), nil
}

// muteReason says why somebody who is mentioned is not woken, or nothing.
func muteReason(u *unit.Unit, p Posting, where conversations.Place, id string) (string, error) {
	target, err := u.Agents().Find(id)
	if err != nil {
		return "", err
	}
	v, err := verdictIn(u, where, target)
	if err != nil || target.ID == u.Me.ID {
		return "", err
	}
	err = policy.ObeyVerdict(u, p.origin(), v, target)
	switch _, held := errors.AsType[unit.HeldBy](err); {
	case err == nil:
		return "", nil
	case held:
		return "contacting it needs an approval: use contact_agent", nil
	}
	e := parley.AsError(err)
	return e.Message + ": contact_agent would say " + e.Suggestion, nil
}

// muteMentions lets a message wake nobody by a mention whom its sender may not contact, and tells the sender.
func muteMentions(u *unit.Unit, p Posting, m parley.Message, where conversations.Place, to []parley.Reach, receipt *parley.Receipt) error {
	if u.SeesAll() || p.Request {
		return nil
	}
	all := slices.Contains(m.Mentions, parley.All)
	var byAll []string
	for i := range to {
		id := to[i].Agent
		named := slices.Contains(m.Mentions, id)
		if !to[i].Wakes || !named && !all || slices.Contains(p.mayWake, id) {
			continue
		}
		why, err := muteReason(u, p, where, id)
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

package post

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// checkSender refuses a draft whose sender is not the caller.
func checkSender(u *unit.Unit, from string) error {
	if claimed, err := agents.FindAgent(u, from); err == nil && claimed.ID == u.Me.ID {
		return nil
	} else if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s cannot send as %q", u.Me.ID, from).
		Suggest("leave the sender out: it is known from the credential")
}

// origin returns the run and the approval that a post comes from.
func (p Posting) origin() unit.Origin {
	return unit.Origin{Caller: unit.Caller{Run: p.Run}, Run: p.By, Approved: p.approved}
}

// checkRules refuses a post, or holds it for an approval, by the rules for its recipients and by the mode of its sender. The answer to
// a message that was delivered to the sender passes: an agent that may ask gets an answer.
func checkRules(u *unit.Unit, p *Posting, m parley.Message, where conversations.Place, parent *parley.Message) error {
	answers, err := answersDelivery(u, p, parent)
	if err != nil {
		return err
	}
	targets := directTargets(u, m, where, parent, answers)
	p.mayWake = slices.Clone(targets) // if they pass
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
	if answers && p.Run == "" || p.onlyHealth { // MustWrite checks a run against the conversation that woke it
		return nil
	}
	if free, err := AmongRelated(u, where.Conversation); free || err != nil {
		return err
	}
	err = policy.MustWrite(u, p.origin(), where.ID)
	if why, held := errors.AsType[unit.HeldBy](err); held && len(targets) == 1 {
		why.Target = targets[0]
		return why
	}
	return err
}

// pinHeld replaces the names in a post that is held by ids, so that the approved message goes where it would go now, whatever is
// renamed in between. It returns any other error unchanged.
func (p Posting) pinHeld(err error, m parley.Message, where conversations.Place) error {
	why, held := errors.AsType[unit.HeldBy](err)
	if !held {
		return err
	}
	d := p.Draft
	d.To = m.To
	switch {
	case len(d.Direct) > 0:
		d.Direct = slices.DeleteFunc(where.FixedMemberIDs(), func(id string) bool { return id == m.From })
	case !where.Made: // else the post makes it when it is approved
		d.Conversation, d.Make = where.ID, false
	}
	why.Draft = &d
	return why
}

// answersDelivery reports whether a post answers a message that was delivered to its sender. It does if it replies to a message that
// woke the sender's run, or if it is the first reply to a message that the sender can still answer. Any other reply is a contact.
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

// directTargets returns the participants that a message is addressed to. Participants that it only mentions are checked by
// muteMentions. An answer has no targets, unless it names a recipient other than the sender of the question.
func directTargets(u *unit.Unit, m parley.Message, where conversations.Place, parent *parley.Message, answers bool) (ids []string) {
	members := where.FixedMemberIDs()
	if !answers {
		ids = slices.DeleteFunc(slices.Clone(members), func(id string) bool { return id == u.Me.ID })
	}
	solicited := answers && m.To == parent.From
	if m.To != "" && m.To != parley.All && !slices.Contains(members, m.To) && !solicited {
		ids = append(ids, m.To)
	}
	return ids
}

// AmongRelated reports whether all others in a fixed conversation are the caller's manager or reports. The caller may write to them in
// every mode.
func AmongRelated(u *unit.Unit, c parley.Conversation) (bool, error) {
	if u.Me.Mode == parley.ModeAutonomous || !c.FixedMembers() {
		return false, nil
	}
	for _, id := range c.FixedMemberIDs() {
		if id == u.Me.ID {
			continue
		}
		other, err := u.Agents().Find(id)
		if err != nil {
			return false, err
		}
		if v, err := policy.Rules(u, other); err != nil || !v.ModeExempt {
			return false, err
		}
	}
	return true, nil
}

// verdictIn returns the verdict of the rules for a recipient. For a recipient that would join the conversation because of the message,
// the sender's mode counts too, even in the conversation that woke the sender.
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

// muteReason returns why a mentioned participant is not woken, or nothing if it may be woken.
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
	return e.Message + ", and contact_agent refuses it too: " + e.Suggestion, nil
}

// muteMentions removes the wake from recipients that are only mentioned and that the sender may not contact. The receipt tells the
// sender.
func muteMentions(u *unit.Unit, p Posting, m parley.Message, where conversations.Place, to []parley.NewDelivery, receipt *parley.Receipt) error {
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
		receipt.Notices = append(receipt.Notices, "@all did not wake participants that you may not contact, or only with approval: "+strings.Join(byAll, ", "))
	}
	return nil
}

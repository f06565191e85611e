package hub

import (
	"slices"

	"github.com/parley-hub/parley"
)

// mostNamed is how many are named through whom to go.
const mostNamed = 5

// rules are the verdict on the caller contacting somebody, without its mode. Owners, and the hub itself, may
// contact everybody.
func (s *scene) rules(target parley.Agent) (parley.Verdict, error) {
	if s.seesAll() && target.ID != s.me.ID {
		const rule = "owner"
		return parley.Verdict{Allowed: true, Free: true, Rule: rule, Checks: []parley.RuleCheck{{Rule: rule, Result: "allows it"}}}, nil
	}
	if s.permissions == nil || s.permissions.of != s.me.ID {
		list, err := s.Permissions().Of(s.me.ID)
		if err != nil {
			return parley.Verdict{}, err
		}
		s.permissions = &permissions{s.me.ID, list}
	}
	from := s.me
	if s.bridged { // nobody can tell whether it is the manager that has written a file
		from.Manager, target.Manager = "", ""
	}
	v := parley.Decide(from, target, s.permissions.list, s.hub.config.Tiers)
	if v.Via == "" {
		return v, nil
	}
	through, err := s.through(v.Via)
	v.Error = v.Error.Suggest("%s", v.Way(s.me, through...))
	return v, err
}

// permissions are the rules of one agent, read once for a use case.
type permissions struct {
	of   string
	list []parley.Permission
}

// through names some of a tier: the caller's manager if that is one of them.
func (s *scene) through(tier parley.Tier) (names []string, err error) {
	all, err := s.Agents().List()
	for _, a := range all {
		switch {
		case a.Tier != tier || a.RemovedAt != nil || a.ID == s.me.ID:
		case a.ID == s.me.Manager:
			return []string{a.Name}, err
		case len(names) < mostNamed:
			names = append(names, a.Name)
		}
	}
	return names, err
}

// mayContact says whether the caller may contact somebody, and which rule says so. The mode is in it.
func (s *scene) mayContact(target parley.Agent) (parley.Verdict, error) {
	v, err := s.rules(target)
	return v.ByMode(s.me.Mode), err
}

// mayCall refuses a contact: E001 with the rule's hint, heldBy if it needs an approval first, nil else.
func (s *scene) mayCall(o origin, target parley.Agent) error {
	v, err := s.rules(target)
	if err != nil {
		return err
	}
	dm, err := s.dmOf(target.ID)
	if err != nil {
		return err
	}
	woken, err := s.woke(o, dm)
	if err != nil {
		return err
	}
	if !woken {
		v = v.ByMode(s.me.Mode)
	}
	return s.obeyVerdict(o, v, target)
}

// obeyVerdict turns a verdict into what the caller is told. What was approved needs no approval any more, but a
// person's where a rule has come to demand that.
func (s *scene) obeyVerdict(o origin, v parley.Verdict, target parley.Agent) error {
	switch {
	case !v.Allowed:
		return v.Error
	case !v.RequiresApproval:
		return nil
	case o.approved == nil:
		return heldBy{verdict: v, target: target.ID}
	case !v.RequiresHuman:
		return nil
	}
	decider, err := s.Agents().Find(o.approved.DecidedBy)
	if err != nil || decider.Kind == parley.KindHuman {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s may contact %s only with a person's approval", s.me.Name, target.Name).
		Suggest("make the call again, so that a person is asked")
}

// dmOf is the id of the caller's DM with somebody, or nothing if there is none yet.
func (s *scene) dmOf(other string) (string, error) {
	c, err := s.Conversations().FindSet(parley.SetKey([]string{s.me.ID, other}))
	return c.ID, ignoreNotFound(err)
}

// mostTakenSeen is how many of what a participant has taken are looked at.
const mostTakenSeen = 200

// woke says whether a conversation is the one that woke the caller: that of its run, or, outside of runs, one of
// which it has taken a message that is not settled.
func (s *scene) woke(o origin, conversation string) (bool, error) {
	switch {
	case conversation == "":
		return false, nil
	case o.run != nil:
		return o.run.Conversation == conversation, nil
	case o.caller.Run != "":
		r, err := s.Runs().Get(o.caller.Run)
		return err == nil && r.Conversation == conversation, ignoreNotFound(err)
	}
	held, err := s.Queue().Held(s.me.ID, 0, mostTakenSeen)
	return slices.ContainsFunc(held, func(d parley.Delivery) bool {
		return d.Conversation == conversation && d.Lease != ""
	}), err
}

// mustWrite holds a write tool of a supervised or strict caller, unless it stays in the conversation that woke it.
func (s *scene) mustWrite(o origin, conversation string) error {
	if s.me.Mode != parley.ModeSupervised && s.me.Mode != parley.ModeStrict {
		return nil
	}
	return s.mustAsk(o, conversation)
}

// mustRead holds a read tool of a strict caller, unless it stays in the conversation that woke it.
func (s *scene) mustRead(o origin, conversation string) error {
	if s.me.Mode != parley.ModeStrict {
		return nil
	}
	return s.mustAsk(o, conversation)
}

func (s *scene) mustAsk(o origin, conversation string) error {
	if o.approved != nil || o.caller.Approved || s.seesAll() {
		return nil
	}
	if woken, err := s.woke(o, conversation); woken || err != nil {
		return err
	}
	return heldBy{verdict: parley.Verdict{Allowed: true}.ByMode(s.me.Mode)}
}

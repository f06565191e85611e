package policy

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// mostNamed is how many are named through whom to go.
const mostNamed = 5

// Rules are the verdict on the caller contacting somebody, without its mode. Owners, and the hub itself, may
// contact everybody.
func Rules(u *unit.Unit, target parley.Agent) (parley.Verdict, error) {
	if u.SeesAll() && target.ID != u.Me.ID {
		const rule = "owner"
		return parley.Verdict{Allowed: true, Free: true, Rule: rule, Checks: []parley.RuleCheck{{Rule: rule, Result: "allows it"}}}, nil
	}
	if u.CallerRules == nil || u.CallerRules.Of != u.Me.ID {
		list, err := u.Permissions().Of(u.Me.ID)
		if err != nil {
			return parley.Verdict{}, err
		}
		u.CallerRules = &unit.Permissions{Of: u.Me.ID, List: list}
	}
	from := u.Me
	if u.Bridged { // nobody can tell whether it is the manager that has written a file
		from.Manager, target.Manager = "", ""
	}
	v := parley.Decide(from, target, u.CallerRules.List, u.Core.Config.Tiers)
	if v.Via == "" {
		return v, nil
	}
	through, err := through(u, v.Via)
	v.Error = v.Error.Suggest("%s", v.Way(u.Me, through...))
	return v, err
}

// through names some of a tier: the caller's manager if that is one of them.
func through(u *unit.Unit, tier parley.Tier) (names []string, err error) {
	all, err := u.Agents().List()
	for _, a := range all {
		switch {
		case a.Tier != tier || a.RemovedAt != nil || a.ID == u.Me.ID:
		case a.ID == u.Me.Manager:
			return []string{a.Name}, err
		case len(names) < mostNamed:
			names = append(names, a.Name)
		}
	}
	return names, err
}

// mayContact says whether the caller may contact somebody, and which rule says so. The mode is in it.
func mayContact(u *unit.Unit, target parley.Agent) (parley.Verdict, error) {
	v, err := Rules(u, target)
	return v.ByMode(u.Me.Mode), err
}

// MayCall refuses a contact: E001 with the rule's hint, heldBy if it needs an approval first, nil else.
func MayCall(u *unit.Unit, o unit.Origin, target parley.Agent) error {
	v, err := Rules(u, target)
	if err != nil {
		return err
	}
	dm, err := dmOf(u, target.ID)
	if err != nil {
		return err
	}
	woken, err := woke(u, o, dm)
	if err != nil {
		return err
	}
	if !woken {
		v = v.ByMode(u.Me.Mode)
	}
	return ObeyVerdict(u, o, v, target)
}

// ObeyVerdict turns a verdict into what the caller is told. What was approved needs no approval any more, but a
// person's where a rule has come to demand that.
func ObeyVerdict(u *unit.Unit, o unit.Origin, v parley.Verdict, target parley.Agent) error {
	switch {
	case !v.Allowed:
		return v.Error
	case !v.RequiresApproval:
		return nil
	case o.Approved == nil:
		return unit.HeldBy{Verdict: v, Target: target.ID}
	case !v.RequiresHuman:
		return nil
	}
	decider, err := u.Agents().Find(o.Approved.DecidedBy)
	if err != nil || decider.Kind == parley.KindHuman {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s may contact %s only with a person's approval", u.Me.Name, target.Name).
		Suggest("make the call again, so that a person is asked")
}

// dmOf is the id of the caller's DM with somebody, or nothing if there is none yet.
func dmOf(u *unit.Unit, other string) (string, error) {
	c, err := u.Conversations().FindSet(parley.SetKey([]string{u.Me.ID, other}))
	return c.ID, unit.IgnoreNotFound(err)
}

package policy

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// maxNamed is how many agents a suggestion names.
const maxNamed = 5

// Rules returns the verdict on the caller contacting a target, without regard to the caller's mode. Owners and the hub
// itself may contact everybody.
func Rules(u *unit.Unit, target parley.Agent) (parley.Verdict, error) {
	if u.SeesAll() && target.ID != u.Me.ID {
		const rule = "owner"
		return parley.Verdict{Allowed: true, ModeExempt: true, Rule: rule, Checks: []parley.RuleCheck{{Rule: rule, Result: "allows it"}}}, nil
	}
	if u.CallerRules == nil || u.CallerRules.Of != u.Me.ID {
		list, err := u.Permissions().OfAgent(u.Me.ID)
		if err != nil {
			return parley.Verdict{}, err
		}
		u.CallerRules = &unit.Permissions{Of: u.Me.ID, List: list}
	}
	from := u.Me
	if u.Bridged { // a file does not prove that the manager wrote it
		from.Manager, target.Manager = "", ""
	}
	v := parley.Decide(from, target, u.CallerRules.List, u.Core.Config.Tiers)
	if v.Via == "" {
		return v, nil
	}
	through, err := viaNames(u, v.Via)
	v.Error = v.Error.Suggest("%s", v.Suggestion(u.Me, through...))
	return v, err
}

// viaNames returns the names of some agents of a tier, or only the caller's manager if it is of that tier.
func viaNames(u *unit.Unit, tier parley.Tier) (names []string, err error) {
	all, err := u.Agents().List()
	for _, a := range all {
		switch {
		case a.Tier != tier || a.RemovedAt != nil || a.ID == u.Me.ID:
		case a.ID == u.Me.Manager:
			return []string{a.Name}, err
		case len(names) < maxNamed:
			names = append(names, a.Name)
		}
	}
	return names, err
}

// mayContact returns the verdict on the caller contacting a target, with regard to the caller's mode.
func mayContact(u *unit.Unit, target parley.Agent) (parley.Verdict, error) {
	v, err := Rules(u, target)
	return v.ByMode(u.Me.Mode), err
}

// MayCall checks a contact. It returns E001 with the rule's hint if it is not allowed, and unit.HeldBy if it needs an
// approval. A contact gives work to another participant, so it is no post in the conversation that woke the caller: the mode
// holds it even if a message of the target woke the caller.
func MayCall(u *unit.Unit, o unit.Origin, target parley.Agent) error {
	v, err := mayContact(u, target)
	if err != nil {
		return err
	}
	return ObeyVerdict(u, o, v, target)
}

// ObeyVerdict turns a verdict into an error or nil. An approved call needs no second approval, unless a rule demands that a
// person approves and an agent did.
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
		Suggest("repeat the call: the hub then asks a person")
}

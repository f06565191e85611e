package parley

import (
	"fmt"
	"strings"
)

// The results of checking a rule.
const (
	checkPassed = "passed on"
	checkAllows = "allows it"
	checkAsks   = "allows it with an approval"
	checkPerson = "allows it with a person's approval"
	checkDenies = "refuses it"
)

// Decide returns whether one participant may contact another, by the rules of the first and by their tiers. The
// first rule that applies decides. The agent's mode may require an approval on top: see ByMode.
func Decide(from, to Agent, rules []Permission, tiers Tiers) Verdict {
	v := &Verdict{}
	switch {
	case v.oneself(from, to), v.related(from, to):
	case v.ruled(from, to, to.ID, rules), v.ruled(from, to, Anyone, rules):
	case v.tiered(from, to, tiers):
	default:
		v.Allowed = true
		v.decided("nothing forbids it", checkAllows)
	}
	return *v
}

func (v *Verdict) passed(rule string) { v.Checks = append(v.Checks, RuleCheck{rule, checkPassed}) }

func (v *Verdict) decided(rule, result string) {
	v.Rule = rule
	v.Checks = append(v.Checks, RuleCheck{rule, result})
}

func (v *Verdict) refused(rule string, err *Error) {
	v.decided(rule, checkDenies)
	v.Error = err
}

func (v *Verdict) oneself(from, to Agent) bool {
	const rule = "oneself"
	if from.ID != to.ID {
		v.passed(rule)
		return false
	}
	v.refused(rule, Errorf(BadInput, "%s cannot contact itself", from.Name).Suggest("name another participant"))
	return true
}

func (v *Verdict) related(from, to Agent) bool {
	const rule = "manager and report"
	if from.Manager != to.ID && to.Manager != from.ID {
		v.passed(rule)
		return false
	}
	v.Allowed, v.Free = true, true
	v.decided(rule, checkAllows)
	return true
}

// ruled checks the rules for one target, which may be Anyone: deny before allow.
func (v *Verdict) ruled(from, to Agent, target string, rules []Permission) bool {
	for _, effect := range []Effect{EffectDeny, EffectAllow} {
		rule := fmt.Sprintf("%s %s → %s", effect, from.ID, target)
		p, found := ruleFor(rules, from.ID, target, effect)
		switch {
		case !found:
			v.passed(rule)
			continue
		case effect == EffectDeny:
			v.refused(rule, mayNot(from, to).Suggest("ask an owner of this hub for a rule that allows it"))
		default:
			v.allowedBy(p, rule)
		}
		return true
	}
	return false
}

func ruleFor(rules []Permission, agent, target string, effect Effect) (Permission, bool) {
	for _, p := range rules {
		if p.Agent == agent && p.Target == target && p.Effect == effect {
			return p, true
		}
	}
	return Permission{}, false
}

func (v *Verdict) allowedBy(p Permission, rule string) {
	v.Allowed, v.RequiresHuman = true, p.RequiresHuman
	v.RequiresApproval = p.RequiresApproval || p.RequiresHuman
	switch {
	case v.RequiresHuman:
		v.decided(rule, checkPerson)
	case v.RequiresApproval:
		v.decided(rule, checkAsks)
	default:
		v.decided(rule, checkAllows)
	}
}

func (v *Verdict) tiered(from, to Agent, tiers Tiers) bool {
	switch {
	case from.Tier == "" || to.Tier == "":
		v.passed("tiers: not both have one")
		return false
	case tiers.Allow(from.Tier, to.Tier):
		v.passed(fmt.Sprintf("tiers: %s may contact %s", from.Tier, to.Tier))
		return false
	}
	v.Via = tiers.Between(from.Tier, to.Tier)
	v.refused(fmt.Sprintf("tiers: %s may not contact %s", from.Tier, to.Tier), mayNot(from, to).Suggest("%s", v.Way(from)))
	return true
}

func mayNot(from, to Agent) *Error {
	return Errorf(NotPermitted, "%s may not contact %s", from.Name, to.Name)
}

// Allow reports whether two tiers may contact each other.
func (t Tiers) Allow(a, b Tier) bool {
	for _, pair := range t {
		if pair == [2]Tier{a, b} || pair == [2]Tier{b, a} {
			return true
		}
	}
	return false
}

// Between returns a tier that both tiers may contact, or "" if there is none.
func (t Tiers) Between(a, b Tier) Tier {
	for _, way := range []Tier{TierPM, TierCommand, TierWorker} {
		if t.Allow(a, way) && t.Allow(way, b) {
			return way
		}
	}
	return ""
}

// Way returns a suggestion for a contact that the tiers refuse: go through the tier Via. through names agents of that tier.
func (v Verdict) Way(from Agent, through ...string) string {
	way := map[Tier]string{TierPM: "a pm", TierCommand: "command", TierWorker: "a worker"}[v.Via]
	switch {
	case v.Via == "":
		return "ask an owner of this hub for a rule that allows it"
	case v.Via == TierPM && from.Tier == TierWorker:
		way = "your pm"
	}
	if len(through) == 0 {
		return "go through " + way
	}
	return "go through " + way + " (" + strings.Join(through, ", ") + ")"
}

// ByMode returns the verdict with the approval that an agent's mode requires.
func (v Verdict) ByMode(m Mode) Verdict {
	rule := "mode " + string(m)
	switch {
	case !v.Allowed || v.Free || v.RequiresApproval:
	case m == ModeSupervised || m == ModeStrict:
		v.RequiresApproval = true
		v.decided(rule, checkAsks)
	default:
		v.passed(rule)
	}
	return v
}

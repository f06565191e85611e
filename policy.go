package parley

import (
	"fmt"
	"strings"
)

// The results of checking a rule.
const (
	resultPassed        = "passed on"
	resultAllows        = "allows it"
	resultNeedsApproval = "allows it with an approval"
	resultNeedsPerson   = "allows it with a person's approval"
	resultRefuses       = "refuses it"
)

// Decide returns whether one participant may contact another. The first check that applies decides: self, manager and report, the
// rules of the caller, tiers. The mode of the caller may require an approval as well; see ByMode.
func Decide(from, to Agent, rules []Permission, tiers Tiers) Verdict {
	v := &Verdict{}
	switch {
	case v.decideSelf(from, to), v.decideByManager(from, to):
	case v.decideByRules(from, to, to.ID, rules), v.decideByRules(from, to, Anyone, rules):
	case v.decideByTiers(from, to, tiers):
	default:
		v.Allowed = true
		v.addDecision("nothing forbids it", resultAllows)
	}
	return *v
}

func (v *Verdict) addPassed(rule string) { v.Checks = append(v.Checks, RuleCheck{rule, resultPassed}) }

func (v *Verdict) addDecision(rule, result string) {
	v.Rule = rule
	v.Checks = append(v.Checks, RuleCheck{rule, result})
}

func (v *Verdict) refuse(rule string, err *Error) {
	v.addDecision(rule, resultRefuses)
	v.Error = err
}

func (v *Verdict) decideSelf(from, to Agent) bool {
	const rule = "oneself"
	if from.ID != to.ID {
		v.addPassed(rule)
		return false
	}
	v.refuse(rule, Errorf(BadInput, "%s cannot contact itself", from.Name).Suggest("name another participant"))
	return true
}

func (v *Verdict) decideByManager(from, to Agent) bool {
	const rule = "manager and report"
	if from.Manager != to.ID && to.Manager != from.ID {
		v.addPassed(rule)
		return false
	}
	v.Allowed, v.ModeExempt = true, true
	v.addDecision(rule, resultAllows)
	return true
}

// decideByRules checks the rules for one target, which may be Anyone. A rule that denies counts before a rule that allows.
func (v *Verdict) decideByRules(from, to Agent, target string, rules []Permission) bool {
	for _, effect := range []Effect{EffectDeny, EffectAllow} {
		rule := fmt.Sprintf("%s %s → %s", effect, from.ID, target)
		p, found := ruleFor(rules, from.ID, target, effect)
		switch {
		case !found:
			v.addPassed(rule)
			continue
		case effect == EffectDeny:
			v.refuse(rule, errNotAllowed(from, to).Suggest("ask an owner of this hub for a rule that allows it"))
		default:
			v.allowBy(p, rule)
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

func (v *Verdict) allowBy(p Permission, rule string) {
	v.Allowed, v.RequiresHuman = true, p.RequiresHuman
	v.RequiresApproval = p.RequiresApproval || p.RequiresHuman
	switch {
	case v.RequiresHuman:
		v.addDecision(rule, resultNeedsPerson)
	case v.RequiresApproval:
		v.addDecision(rule, resultNeedsApproval)
	default:
		v.addDecision(rule, resultAllows)
	}
}

func (v *Verdict) decideByTiers(from, to Agent, tiers Tiers) bool {
	switch {
	case from.Tier == "" || to.Tier == "":
		v.addPassed("tiers: at least one of them has no tier")
		return false
	case tiers.Allow(from.Tier, to.Tier):
		v.addPassed(fmt.Sprintf("tiers: %s may contact %s", from.Tier, to.Tier))
		return false
	}
	v.Via = tiers.Between(from.Tier, to.Tier)
	v.refuse(fmt.Sprintf("tiers: %s may not contact %s", from.Tier, to.Tier), errNotAllowed(from, to).Suggest("%s", v.Suggestion(from)))
	return true
}

func errNotAllowed(from, to Agent) *Error {
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
	for _, middle := range []Tier{TierPM, TierCommand, TierWorker} {
		if t.Allow(a, middle) && t.Allow(middle, b) {
			return middle
		}
	}
	return ""
}

// Suggestion returns a suggestion for a contact that the tiers refuse: to go through an agent of the tier Via. through lists
// agents of that tier. Without such a tier, it suggests to ask an owner for a rule.
func (v Verdict) Suggestion(from Agent, through ...string) string {
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

// ByMode returns the verdict after it has checked whether the mode of the caller requires an approval.
func (v Verdict) ByMode(m Mode) Verdict {
	rule := "mode " + string(m)
	switch {
	case !v.Allowed || v.ModeExempt || v.RequiresApproval:
	case m == ModeSupervised || m == ModeStrict:
		v.RequiresApproval = true
		v.addDecision(rule, resultNeedsApproval)
	default:
		v.addPassed(rule)
	}
	return v
}

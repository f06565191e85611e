package parley_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// rule is what may be said at one level: nothing, deny, allow, or allow with an approval, by anybody or a person.
type rule int

const (
	noRule rule = iota
	denies
	allows
	asks
	asksPerson
)

// level is the rules at one level. More than one may be there.
type level []rule

var levels = []level{
	{}, {denies}, {allows}, {asks}, {asksPerson}, {denies, allows}, {denies, asks}, {denies, asksPerson},
}

func (l level) permissions(target string) (list []parley.Permission) {
	for _, r := range l {
		p := parley.Permission{Agent: "arya", Target: target, Effect: parley.EffectAllow}
		switch r {
		case denies:
			p.Effect = parley.EffectDeny
		case asks:
			p.RequiresApproval = true
		case asksPerson:
			p.RequiresHuman = true
		}
		list = append(list, p)
	}
	return list
}

// says is what a level comes to, by the words of the contract: deny beats allow.
func (l level) says() rule {
	if slices.Contains(l, denies) {
		return denies
	}
	if len(l) == 0 {
		return noRule
	}
	return l[0]
}

// expected is the contract in other words than the code's: the nearest level that says anything decides.
func expected(related bool, target, anyone level, from, to parley.Tier) rule {
	if related {
		return allows
	}
	for _, l := range []level{target, anyone} {
		if said := l.says(); said != noRule {
			return said
		}
	}
	ranks := map[parley.Tier]int{parley.TierCommand: 2, parley.TierPM: 1, parley.TierWorker: 0}
	if from == "" || to == "" || from == parley.TierCommand && to == parley.TierCommand {
		return allows
	}
	if apart := ranks[from] - ranks[to]; apart == 1 || apart == -1 {
		return allows
	}
	return denies
}

func said(v parley.Verdict) rule {
	switch {
	case !v.Allowed:
		return denies
	case v.RequiresHuman:
		return asksPerson
	case v.RequiresApproval:
		return asks
	default:
		return allows
	}
}

var (
	tiers     = []parley.Tier{"", parley.TierCommand, parley.TierPM, parley.TierWorker}
	modes     = []parley.Mode{parley.ModeAutonomous, parley.ModeSupervised, parley.ModeStrict}
	relations = []string{"strangers", "arya manages", "gendry manages"}
)

func pair(relation string, from, to parley.Tier) (arya, gendry parley.Agent) {
	arya = parley.Agent{ID: "arya", Name: "Arya", Profile: parley.Profile{Tier: from}}
	gendry = parley.Agent{ID: "gendry", Name: "Gendry", Profile: parley.Profile{Tier: to}}
	switch relation {
	case "arya manages":
		gendry.Manager = "arya"
	case "gendry manages":
		arya.Manager = "gendry"
	}
	return arya, gendry
}

// All combinations of section 7.1: who manages whom, the rules for the target, those for everybody, both tiers and
// the mode.
func TestEveryCombinationOfRules(t *testing.T) {
	n := 0
	for _, relation := range relations {
		for _, target := range levels {
			for _, anyone := range levels {
				for _, from := range tiers {
					for _, to := range tiers {
						for _, mode := range modes {
							n++
							checkCombination(t, relation, target, anyone, from, to, mode)
						}
					}
				}
			}
		}
	}
	if n != 3*8*8*4*4*3 {
		t.Errorf("%d combinations", n)
	}
}

func checkCombination(t *testing.T, relation string, target, anyone level, from, to parley.Tier, mode parley.Mode) {
	t.Helper()
	arya, gendry := pair(relation, from, to)
	rules := append(anyone.permissions(parley.Anyone), target.permissions("gendry")...)
	rules = append(rules, parley.Permission{Agent: "gendry", Target: "arya", Effect: parley.EffectDeny}) // another's
	name := fmt.Sprintf("%s, target %v, anyone %v, %s → %s, %s", relation, target, anyone, from, to, mode)
	related := relation != "strangers"
	want := expected(related, target, anyone, from, to)
	v := parley.Decide(arya, gendry, rules, parley.DefaultTiers())
	if got := said(v); got != want {
		t.Errorf("%s: rules say %v, want %v (%s)", name, got, want, v.Rule)
	}
	if want == allows && mode != parley.ModeAutonomous && !related {
		want = asks
	}
	v = v.ByMode(mode)
	if got := said(v); got != want {
		t.Errorf("%s: with its mode %v, want %v (%s)", name, got, want, v.Rule)
	}
	if v.Allowed != (v.Error == nil) || v.Error != nil && (v.Error.Code != parley.NotPermitted || v.Error.Suggestion == "") {
		t.Errorf("%s: allowed %v with error %v", name, v.Allowed, v.Error)
	}
	if i := slices.IndexFunc(v.Checks, func(c parley.RuleCheck) bool { return c.Rule == v.Rule && c.Result != "passed on" }); i < 0 {
		t.Errorf("%s: %q did not decide: %v", name, v.Rule, v.Checks)
	}
}

func anyRules(t *rapid.T, target string) []parley.Permission {
	return rapid.SampledFrom(levels).Draw(t, "rules for "+target).permissions(target)
}

func anyPair(t *rapid.T, relation string) (arya, gendry parley.Agent) {
	return pair(relation, rapid.SampledFrom(tiers).Draw(t, "from"), rapid.SampledFrom(tiers).Draw(t, "to"))
}

func TestManagerAndReportsAlwaysPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arya, gendry := anyPair(t, rapid.SampledFrom(relations[1:]).Draw(t, "relation"))
		rules := append(anyRules(t, "gendry"), anyRules(t, parley.Anyone)...)
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		v := parley.Decide(arya, gendry, rules, parley.DefaultTiers()).ByMode(mode)
		if said(v) != allows || !v.ModeExempt {
			t.Errorf("%+v", v)
		}
	})
}

func TestRuleForTheTargetBeatsAnyone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arya, gendry := anyPair(t, "strangers")
		own := rapid.SampledFrom(levels[1:]).Draw(t, "own").permissions("gendry")
		without := parley.Decide(arya, gendry, own, parley.DefaultTiers())
		with := parley.Decide(arya, gendry, append(own, anyRules(t, parley.Anyone)...), parley.DefaultTiers())
		if diff := cmp.Diff(without.Rule, with.Rule); diff != "" || said(without) != said(with) {
			t.Errorf("another rule decided: %s", diff)
		}
	})
}

func TestDenyBeatsAllowAtTheSameLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arya, gendry := anyPair(t, "strangers")
		target := rapid.SampledFrom([]string{"gendry", parley.Anyone}).Draw(t, "target")
		rules := level{rapid.SampledFrom([]rule{allows, asks, asksPerson}).Draw(t, "allow"), denies}.permissions(target)
		if v := parley.Decide(arya, gendry, rules, parley.DefaultTiers()); said(v) != denies || v.Rule != "deny arya → "+target {
			t.Errorf("%+v", v)
		}
	})
}

func TestTiersSayWhichWayToGo(t *testing.T) {
	for _, c := range []struct {
		from, to parley.Tier
		through  []string
		want     string
	}{
		{parley.TierWorker, parley.TierWorker, []string{"Pam"}, "go through your pm (Pam)"},
		{parley.TierWorker, parley.TierWorker, nil, "go through your pm"},
		{parley.TierCommand, parley.TierWorker, []string{"Pam", "Paul"}, "go through a pm (Pam, Paul)"},
		{parley.TierWorker, parley.TierCommand, nil, "go through your pm"},
		{parley.TierPM, parley.TierPM, []string{"Carl"}, "go through command (Carl)"},
	} {
		arya, gendry := pair("strangers", c.from, c.to)
		v := parley.Decide(arya, gendry, nil, parley.DefaultTiers())
		if got := v.Suggestion(arya, c.through...); got != c.want {
			t.Errorf("%s → %s: %q, want %q", c.from, c.to, got, c.want)
		}
		if v.Rule != fmt.Sprintf("tiers: %s may not contact %s", c.from, c.to) {
			t.Errorf("rule %q", v.Rule)
		}
	}
	arya, gendry := pair("strangers", parley.TierPM, parley.TierPM)
	if v := parley.Decide(arya, gendry, nil, parley.Tiers{}); !strings.Contains(v.Error.Suggestion, "owner") {
		t.Errorf("no way at all: %v", v.Error)
	}
}

func TestVerdictShowsEachRulePassed(t *testing.T) {
	arya, gendry := pair("strangers", parley.TierPM, parley.TierWorker)
	v := parley.Decide(arya, gendry, nil, parley.DefaultTiers()).ByMode(parley.ModeSupervised)
	want := []parley.RuleCheck{
		{Rule: "oneself", Result: "passed on"},
		{Rule: "manager and report", Result: "passed on"},
		{Rule: "deny arya → gendry", Result: "passed on"},
		{Rule: "allow arya → gendry", Result: "passed on"},
		{Rule: "deny arya → *", Result: "passed on"},
		{Rule: "allow arya → *", Result: "passed on"},
		{Rule: "tiers: pm may contact worker", Result: "passed on"},
		{Rule: "nothing forbids it", Result: "allows it"},
		{Rule: "mode supervised", Result: "allows it with an approval"},
	}
	if diff := cmp.Diff(want, v.Checks); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	self := parley.Decide(arya, arya, nil, nil)
	if self.Allowed || self.Error.Code != parley.BadInput || self.Rule != "oneself" {
		t.Errorf("oneself: %+v", self)
	}
}

func TestPermissionCheck(t *testing.T) {
	good := parley.Permission{Agent: "arya", Target: "*", Effect: parley.EffectAllow, RequiresApproval: true}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*parley.Permission){
		"effect": func(p *parley.Permission) { p.Effect = "maybe" },
		"denies": func(p *parley.Permission) { p.Effect = parley.EffectDeny },
		"agent":  func(p *parley.Permission) { p.Agent = "*" },
		"target": func(p *parley.Permission) { p.Target = "" },
	} {
		p := good
		spoil(&p)
		if err := p.Check(); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

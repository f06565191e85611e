package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var permissionTests = []test{
	{"rules are listed, rules for everybody last, deny before allow", permissionLists},
	{"a rule is replaced and removed by its agent, target and effect", permissionPut},
	{"rules of missing agents are refused", permissionRefused},
}

func newRule(agent, target string, effect parley.Effect) parley.Permission {
	return parley.Permission{Agent: agent, Target: target, Effect: effect, CreatedBy: "arya", CreatedAt: at(1)}
}

func (f *fixture) permit(list ...parley.Permission) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Permissions().Put) })
}

func (f *fixture) rulesOf(agent string) []parley.Permission {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Permission, error) { return tx.Permissions().OfAgent(agent) })
}

func (f *fixture) rules() []parley.Permission {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Permission, error) { return tx.Permissions().List() })
}

// permissionLists stores rules in the reverse of the order in which they are listed.
func permissionLists(f *fixture) {
	f.agents("sansa", "arya", "gendry") // not in the order of their ids
	human := newRule("arya", "gendry", parley.EffectAllow)
	human.RequiresApproval, human.RequiresHuman, human.CreatedBy, human.CreatedAt = true, true, "gendry", at(7)
	approved := newRule("arya", parley.Anyone, parley.EffectAllow)
	approved.RequiresApproval = true
	of := []parley.Permission{
		newRule("arya", "sansa", parley.EffectDeny), newRule("arya", "sansa", parley.EffectAllow), newRule("arya", "gendry", parley.EffectDeny),
		human, newRule("arya", parley.Anyone, parley.EffectDeny), approved,
	}
	others := newRule("gendry", parley.Anyone, parley.EffectAllow)
	first := newRule("sansa", "arya", parley.EffectAllow)
	f.permit(others)
	for i := range of {
		f.permit(of[len(of)-1-i])
	}
	f.permit(first)
	f.same("of arya", f.rulesOf("ARYABOT"), of)
	f.same("of gendry", f.rulesOf("gendry"), []parley.Permission{others})
	f.same("of all", f.rules(), append(append([]parley.Permission{first}, of...), others))
}

func permissionPut(f *fixture) {
	f.agents("arya", "gendry")
	rule, other, all := newRule("arya", "gendry", parley.EffectAllow), newRule("arya", "gendry", parley.EffectDeny), newRule("arya", "*", parley.EffectAllow)
	f.permit(rule, other, all)
	rule.RequiresApproval, rule.RequiresHuman, rule.CreatedBy, rule.CreatedAt = true, true, "gendry", at(5)
	f.permit(rule)
	f.same("replaced", f.rulesOf("arya"), []parley.Permission{other, rule, all})
	remove := func(tx storage.Tx) error { return tx.Permissions().Remove("arya", "GENDRY", parley.EffectAllow) }
	f.update(remove)
	f.fails(parley.ErrNotFound, remove)
	f.same("removed", f.rulesOf("arya"), []parley.Permission{other, all})
	f.update(func(tx storage.Tx) error { return tx.Permissions().Remove("arya", parley.Anyone, parley.EffectAllow) })
	f.same("left", f.rules(), []parley.Permission{other})
}

func permissionRefused(f *fixture) {
	f.agents("arya")
	made := newRule("arya", "arya", parley.EffectAllow)
	made.CreatedBy = "nobody"
	for _, rule := range []parley.Permission{newRule("nobody", "arya", parley.EffectAllow), newRule("arya", "nobody", parley.EffectAllow), made} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Permissions().Put(rule) })
	}
	for _, pair := range [][2]string{{"nobody", "arya"}, {"arya", "nobody"}, {"nobody", "*"}, {"*", "arya"}} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Permissions().Remove(pair[0], pair[1], parley.EffectAllow) })
	}
	f.missing("rules of nobody", func(tx storage.Tx) error { return errorOf(tx.Permissions().OfAgent("nobody")) })
	f.same("rules", f.rules(), []parley.Permission{})
}

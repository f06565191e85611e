package httpapi

import (
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestOperationsHaveRules keeps an operation from being served that says not who may use it.
func TestOperationsHaveRules(t *testing.T) {
	for _, r := range allRoutes() {
		r.mustHaveRule()
	}
	for name, op := range map[string]Operation{
		"nothing":              {},
		"no scope":             {Who: hub.Owner},
		"no rule":              {Scope: parley.ScopeRead},
		"unknown scope":        {Who: hub.Owner, Scope: "write"},
		"unknown rule":         {Who: "friends", Scope: parley.ScopeRead},
		"a scope for everyone": {Who: hub.Anyone, Scope: parley.ScopeRead},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it is served")
				}
			}()
			op.mustHaveRule()
		})
	}
}

package storage

import (
	"github.com/parley-hub/parley"
)

// PermissionStore keeps the rules that say who may contact whom. ErrNotFound if an agent does not exist.
type PermissionStore interface {
	// Put adds a rule, or replaces the one with the same agent, target and effect.
	Put(parley.Permission) error
	// Remove removes one. ErrNotFound if there is none.
	Remove(agent, target string, effect parley.Effect) error
	// Of returns the rules of an agent: by the age of their targets, those for everybody last, deny before allow.
	OfAgent(agent string) ([]parley.Permission, error)
	// List returns all rules, by the age of their agents, then as Of does.
	List() ([]parley.Permission, error)
}

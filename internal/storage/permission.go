package storage

import (
	"github.com/parley-hub/parley"
)

// PermissionStore keeps the rules that say which agent may contact which other. Every method returns ErrNotFound if an agent that
// the caller names does not exist.
type PermissionStore interface {
	// Put adds a rule, or replaces the one with the same agent, target and effect.
	Put(parley.Permission) error
	// Remove removes a rule. It returns ErrNotFound if there is no such rule.
	Remove(agent, target string, effect parley.Effect) error
	// OfAgent returns the rules of an agent. Rules for agents that were added earlier come first, rules for everybody last, and
	// deny before allow for the same target.
	OfAgent(agent string) ([]parley.Permission, error)
	// List returns all rules. Rules of agents that were added earlier come first. The rules of one agent come in the order of
	// OfAgent.
	List() ([]parley.Permission, error)
}

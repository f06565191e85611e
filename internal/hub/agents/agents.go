// Package agents holds the rows of agents and their names: finding an agent by any of its names, and adding one.
package agents

import (
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new agent.
func InsertRow(tx storage.Tx, a parley.Agent) error {
	return tx.Agents().Insert(a)
}

// Save stores a changed agent.
func Save(tx storage.Tx, a parley.Agent) error {
	return tx.Agents().Put(a)
}

// RetireRow gives a removed agent another id and name, so that a new agent can have them.
func RetireRow(tx storage.Tx, id, newID, newName string) error {
	return tx.Agents().Retire(id, newID, newName)
}

// SaveHealth stores the health that an agent reports.
func SaveHealth(tx storage.Tx, id string, h parley.Health) error {
	return tx.Agents().PutHealth(id, h)
}

// Agent finds a participant that was not removed. It returns unit.Unknown if there is none, and RemovedError if it was
// removed.
func Agent(u *unit.Unit, name string) (parley.Agent, error) {
	a, err := FindAgent(u, name)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unit.Unknown{Noun: "agent", Name: name}
	}
	if err == nil && a.RemovedAt != nil {
		return a, RemovedError(a.Name)
	}
	return a, err
}

// FindAgent finds a participant, even one that was removed, by an id, a name, or @name as lists show it. It returns
// parley.ErrNotFound if there is none.
func FindAgent(u *unit.Unit, name string) (parley.Agent, error) {
	a, err := u.Agents().Find(name)
	if rest, at := strings.CutPrefix(name, "@"); at && errors.Is(err, parley.ErrNotFound) {
		return u.Agents().Find(rest)
	}
	return a, err
}

// Named returns the id of a participant, even of one that was removed. It returns "" for an empty name and unit.Unknown if
// there is no such participant.
func Named(u *unit.Unit, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := FindAgent(u, name)
	if errors.Is(err, parley.ErrNotFound) {
		return "", unit.Unknown{Noun: "agent", Name: name}
	}
	return a.ID, err
}

// NamesOf returns the names, kinds and roles of participants by their ids. It leaves out ids that nobody has.
func NamesOf(u *unit.Unit, ids ...string) (list []parley.Presence, err error) {
	for _, id := range ids {
		a, err := u.Agents().Find(id)
		if errors.Is(err, parley.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, parley.Presence{ID: a.ID, Name: a.Name, Kind: a.Kind, Role: a.Role})
	}
	return list, nil
}

// RemovedError returns the error for an agent that was removed.
func RemovedError(name string) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s was removed", name).Because(parley.Gone).Suggest("write to another participant")
}

// Show removes what only owners see from an agent: its runtime configuration, and the guardrails of other agents.
func Show(u *unit.Unit, a parley.Agent) parley.Agent {
	if u.SeesAll() {
		return a
	}
	a.RuntimeConfig = nil
	if a.ID != u.Me.ID {
		a.Guardrails = ""
	}
	return a
}

// SpokenBy returns the protocols of an agent. It skips entries that are notes in free text.
func SpokenBy(a parley.Agent) (list []parley.Protocol) {
	for _, text := range a.Protocols {
		if p, err := parley.ParseProtocol(text); err == nil { // else the entry is a note in free text
			list = append(list, p)
		}
	}
	return list
}

package agents

import (
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Agent finds a participant that was not removed. It returns unit.Unknown if there is none, and WasRemoved if it was
// removed.
func Agent(u *unit.Unit, name string) (parley.Agent, error) {
	a, err := FindAgent(u, name)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unit.Unknown{Noun: "agent", Name: name}
	}
	if err == nil && a.RemovedAt != nil {
		return a, WasRemoved(a.Name)
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

// WasRemoved returns the error for an agent that was removed.
func WasRemoved(name string) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s was removed", name).Because(parley.Gone).Suggest("write to somebody else")
}

package runs

import (
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func WhoseRuns(u *unit.Unit, name string) (string, error) {
	if name == "" {
		if u.SeesAll() {
			return "", nil
		}
		return u.Me.ID, nil
	}
	a, err := agents.FindAgent(u, name) // of those that were removed too
	if errors.Is(err, parley.ErrNotFound) {
		return "", unit.Unknown{Noun: "agent", Name: name}
	}
	if err == nil && a.ID != u.Me.ID {
		err = u.MustOwn("see the runs of others")
	}
	return a.ID, err
}

// Run finds a run that the caller may see.
func Run(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) || err == nil && r.Agent != u.Me.ID && !u.SeesAll() {
		return parley.Run{}, unit.Unknown{Noun: "run", Name: id}
	}
	return r, err
}

// ManagedRun finds a run that the caller may end.
func ManagedRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) {
		return r, unit.Unknown{Noun: "run", Name: id}
	}
	if err != nil {
		return r, err
	}
	a, err := u.Agents().Find(r.Agent)
	if err == nil && a.Manager == u.Me.ID {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return Run(u, id)
}

package runs

import (
	"errors"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Run finds a run that the caller may see. It returns unit.Unknown if there is none.
func Run(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(strings.ToLower(id))
	if errors.Is(err, parley.ErrNotFound) || err == nil && r.Agent != u.Me.ID && !u.SeesAll() {
		return parley.Run{}, unit.Unknown{Noun: "run", Name: id}
	}
	return r, err
}

// ManagedRun finds a run that the caller may cancel. It returns unit.Unknown if there is none.
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

// OwnRun finds a live run of the caller. It returns E003 if the run has ended, and E001 if it is another agent's.
func OwnRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := LiveRun(u, id)
	if err == nil && r.Agent != u.Me.ID {
		err = parley.Errorf(parley.NotPermitted, "run %s is not one of %s", r.ID, u.Me.ID).Suggest("use the token of the run")
	}
	return r, err
}

// LiveRun finds a run that has not ended. It returns RunOver if it has ended or does not exist.
func LiveRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := u.Runs().Get(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !r.State.Live() {
		return r, RunOver(id)
	}
	return r, err
}

// RunOver returns the error for a run that has ended.
func RunOver(id string) error {
	return parley.Errorf(parley.BadInput, "the run %s is over", id).Because(parley.Conflict).
		Suggest("look at how it ended: parley agent run %s", id)
}

// RunOf returns the live run that has a delivery, and whether there is one.
func RunOf(u *unit.Unit, d parley.Delivery) (r parley.Run, has bool, err error) {
	if d.Lease == "" || d.Lease != d.Run {
		return r, false, nil
	}
	return Lives(u, d.Run)
}

// Lives returns the run with an id, and whether it exists and has not ended.
func Lives(u *unit.Unit, run string) (r parley.Run, lives bool, err error) {
	r, err = u.Runs().Get(run)
	if errors.Is(err, parley.ErrNotFound) {
		return r, false, nil
	}
	return r, err == nil && r.State.Live(), err
}

// WhoseRuns returns the id of the agent whose runs the caller lists, or "" for those of all. The agent may have been
// removed.
func WhoseRuns(u *unit.Unit, name string) (string, error) {
	if name == "" {
		if u.SeesAll() {
			return "", nil
		}
		return u.Me.ID, nil
	}
	a, err := agents.FindAgent(u, name)
	if errors.Is(err, parley.ErrNotFound) {
		return "", unit.Unknown{Noun: "agent", Name: name}
	}
	if err == nil && a.ID != u.Me.ID {
		err = u.MustOwn("see the runs of others")
	}
	return a.ID, err
}

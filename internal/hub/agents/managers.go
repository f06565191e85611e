package agents

import (
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Manager returns the id of the manager with a name, and refuses a chain of managers that leads back to the agent. It
// returns "" for an empty name.
func Manager(u *unit.Unit, id, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	boss, err := Agent(u, name)
	if err != nil {
		return "", err
	}
	if boss.Kind == parley.KindSystem {
		return "", parley.Errorf(parley.BadInput, "%s cannot be a manager", boss.ID).Suggest("name an agent or a person")
	}
	first := boss.ID
	for seen := map[string]bool{id: true}; ; {
		if seen[boss.ID] {
			return "", parley.Errorf(parley.BadInput, "%s cannot be managed by %s: the chain of managers leads back to %s", id, first, boss.ID).
				Suggest("choose a manager that does not report to %s", id)
		}
		seen[boss.ID] = true
		if boss.Manager == "" {
			return first, nil
		}
		if boss, err = u.Agents().Find(boss.Manager); err != nil {
			return "", err
		}
	}
}

// Manages reports whether the caller is the manager of an agent.
func Manages(u *unit.Unit, agent string) (bool, error) {
	a, err := u.Agents().Find(agent)
	return err == nil && a.Manager == u.Me.ID, err
}

// Responsible returns the people that the hub notifies about an agent: its manager, if that is a person, or else all owners.
func Responsible(u *unit.Unit, a parley.Agent) ([]string, error) {
	all, err := u.Agents().List()
	if err != nil {
		return nil, err
	}
	var owners []string
	for _, p := range all {
		switch {
		case p.Kind != parley.KindHuman || p.RemovedAt != nil:
		case p.ID == a.Manager:
			return []string{p.ID}, nil
		case p.Access == parley.AccessOwner:
			owners = append(owners, p.ID)
		}
	}
	return slices.Clip(owners), nil
}

// PersonOrOwners returns a participant, if it is a person, or else all owners.
func PersonOrOwners(u *unit.Unit, id string) ([]string, error) {
	return Responsible(u, parley.Agent{Profile: parley.Profile{Manager: id}})
}

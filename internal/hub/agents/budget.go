package agents

import (
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Responsible are the people who are told of an agent: its manager, or else all owners.
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

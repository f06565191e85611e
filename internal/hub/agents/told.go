package agents

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// PersonOrOwners is a participant, if it is a person, or else the owners.
func PersonOrOwners(u *unit.Unit, id string) ([]string, error) {
	return Responsible(u, parley.Agent{Profile: parley.Profile{Manager: id}})
}

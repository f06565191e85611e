package agents

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Named is the id of a participant, also of one that was removed, or nothing for nothing.
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

package agents

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

func Manages(u *unit.Unit, agent string) (bool, error) {
	a, err := u.Agents().Find(agent)
	return err == nil && a.Manager == u.Me.ID, err
}

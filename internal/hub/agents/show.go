package agents

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Show leaves out what only owners see: how an agent is run, and what another one is told.
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

func SpokenBy(a parley.Agent) (list []parley.Protocol) {
	for _, text := range a.Protocols {
		if p, err := parley.ParseProtocol(text); err == nil { // else it is a note of its owner's
			list = append(list, p)
		}
	}
	return list
}

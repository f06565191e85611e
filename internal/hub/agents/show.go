package agents

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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

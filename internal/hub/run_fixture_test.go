package hub_test

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

const node = hubtest.Node

// ownPlace returns the place from which a process of a run calls.
func ownPlace(a *hub.Assignment) hub.Connection {
	return hub.Connection{Socket: true, Agent: a.Agent.ID, Run: a.Run.ID}
}

func instantly(parley.Agent) hub.RunPlan { return hub.RunPlan{Instant: true, Token: parley.TokenRun} }

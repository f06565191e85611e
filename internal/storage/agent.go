package storage

import (
	"github.com/parley-hub/parley"
)

// AgentStore keeps agents. The store never deletes an agent: a removed agent keeps its names until Retire renames it.
type AgentStore interface {
	AgentTable
	AgentHealth
}

// AgentTable holds the rows of agents.
type AgentTable interface {
	// Find returns the agent whose id, uuid or name folds to the same as name. It returns ErrNotFound if there is none.
	Find(name string) (parley.Agent, error)
	// List returns all agents in the order in which they were added, removed ones included.
	List() ([]parley.Agent, error)
	// Names returns the ids and names of the agents that are not removed, without the hub itself.
	Names() ([]string, error)
	// HasReports reports whether the agent with this id is the manager of an agent that is not removed. The store caches the
	// answer until some agent changes.
	HasReports(id string) (bool, error)
	// Insert adds an agent. It returns ErrTaken if its id, uuid or name belongs to another agent.
	Insert(parley.Agent) error
	// Put replaces the agent with the same id. The id, uuid and kind do not change. It returns ErrNotFound if there is no such
	// agent, and ErrTaken if the new name belongs to another agent.
	Put(parley.Agent) error
	// Retire gives the agent with this id another id and name, also in the sets of members of its conversations. The agent keeps
	// its uuid and everything it owns. Mentions in stored messages keep the id that the sender wrote. It returns ErrNotFound if
	// there is no such agent, and ErrTaken if the new id or name belongs to another agent.
	Retire(id, newID, newName string) error
}

// AgentHealth holds the health that agents report.
type AgentHealth interface {
	// PutHealth replaces the health that an agent reports. It returns ErrNotFound if there is no such agent.
	PutHealth(id string, h parley.Health) error
	// Health returns the health that an agent has reported. It returns ErrNotFound if there is no such agent, or if the agent has
	// reported no health.
	Health(id string) (parley.Health, error)
	// Healths returns the health of each agent that has reported its health, by the agent's id.
	Healths() (map[string]parley.Health, error)
}

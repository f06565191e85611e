package storage

import (
	"github.com/parley-hub/parley"
)

// AgentStore keeps agents. They are never deleted: a removed agent keeps its names until Retire.
type AgentStore interface {
	AgentTable
	AgentHealth
}

// AgentTable holds the rows of agents.
type AgentTable interface {
	// Find returns the agent whose id, uuid or name folds to the same as name. ErrNotFound if there is none.
	Find(name string) (parley.Agent, error)
	// List returns all agents in the order in which they were added, removed ones included.
	List() ([]parley.Agent, error)
	// Names returns the ids and names of the agents that are not removed, without the hub itself.
	Names() ([]string, error)
	// HasReports reports whether the agent with this id is the manager of an agent that is not removed. The store caches the
	// answer until some agent changes.
	HasReports(id string) (bool, error)
	// Insert adds an agent. ErrTaken if its id, uuid or name belongs to another.
	Insert(parley.Agent) error
	// Update replaces the agent with the same id; its id, uuid and kind stay.
	// ErrNotFound if there is none, ErrTaken if its new name belongs to another.
	Update(parley.Agent) error
	// Retire gives the agent with this id another id and name, also in the sets of members of its conversations; its uuid and
	// everything that it has stay its own. Mentions in stored messages keep the id they were posted with. ErrNotFound if there is
	// no such agent, ErrTaken if the new id or name belongs to another.
	Retire(id, newID, newName string) error
}

// AgentHealth holds the health that agents report.
type AgentHealth interface {
	// KeepHealth replaces the health that an agent reports. ErrNotFound if there is no such agent.
	KeepHealth(id string, h parley.Health) error
	// Health returns the health that an agent has reported. ErrNotFound if there is no such agent, or it has reported none.
	Health(id string) (parley.Health, error)
	// Healths returns the health of each agent that has reported any, by its id.
	Healths() (map[string]parley.Health, error)
}

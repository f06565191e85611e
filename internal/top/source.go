package top

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// Source is a hub that is looked at.
type Source interface {
	// Load returns how everything is.
	Load(ctx context.Context) (Snapshot, error)
	// Detail returns more of one agent, with its newest runs.
	Detail(ctx context.Context, agent string) (Detail, error)
	// Follow reports events until the context ends or the hub refuses. Lost connections come back by themselves.
	Follow(ctx context.Context, report func(parley.Event)) error
	// Command tells an agent something.
	Command(ctx context.Context, agent string, c parley.Command) error
}

// Snapshot is how everything is at a moment.
type Snapshot struct {
	At     time.Time         `json:"at"`
	Hub    string            `json:"hub"` // where it is
	Status parley.HubStatus  `json:"status"`
	Agents []Agent           `json:"agents"`
	Runs   []parley.Run      `json:"runs"`            // live ones, the newest first
	Stuck  []parley.TaskView `json:"stuck,omitempty"` // tasks that cannot go on without help
	Places map[string]string `json:"-"`               // what the conversations are called that they are in
}

// Agent is a participant with what it has used.
type Agent struct {
	parley.Presence
	LastHour parley.Spent `json:"last_hour"`
	LastDay  parley.Spent `json:"last_day"`
}

// Detail is more of one agent.
type Detail struct {
	View parley.AgentView
	Runs []parley.Run
}

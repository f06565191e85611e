package top

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// Source is a hub that the view reads.
type Source interface {
	// Load returns a snapshot of the hub.
	Load(ctx context.Context) (Snapshot, error)
	// Detail returns one agent with its newest runs.
	Detail(ctx context.Context, agent string) (Detail, error)
	// Follow reports events until the context ends or the hub refuses. It reconnects by itself.
	Follow(ctx context.Context, report func(parley.Event)) error
	// Command sends an agent a control message.
	Command(ctx context.Context, agent string, c parley.Command) error
}

// Snapshot is the state of a hub at a moment.
type Snapshot struct {
	At     time.Time         `json:"at"`
	Hub    string            `json:"hub"` // its address
	Status parley.HubStatus  `json:"status"`
	Agents []Agent           `json:"agents"`
	Runs   []parley.Run      `json:"runs"`            // live runs, newest first
	Stuck  []parley.TaskView `json:"stuck,omitempty"` // tasks that cannot go on without help
	Titles map[string]string `json:"-"`               // titles of the conversations of runs, by id
}

// Agent is a participant with what it has used.
type Agent struct {
	parley.Presence
	LastHour parley.Spent `json:"last_hour"`
	LastDay  parley.Spent `json:"last_day"`
}

// Detail is one agent with its newest runs.
type Detail struct {
	View parley.AgentView
	Runs []parley.Run
}

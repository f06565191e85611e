package unit

import (
	"slices"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/index"
	"github.com/parley-hub/parley/internal/hub/local"
)

// Core is what every use case needs: the store, the configuration, the clock, what this process remembers, and the rules by which
// subjects take part in each other's work. There is one for each hub.
type Core struct {
	Store   storage.Store
	Config  Config
	Clock   parley.Clock
	Hooks   Hooks
	Index   *index.Indexer
	Started time.Time

	// What this process remembers, and no database does.
	Bells        *local.Bells
	Turns        *local.Turns
	Watches      *local.Watches
	Attendance   *local.Attendance
	WokenAgents  *local.Rung
	Live         *local.LiveRuns
	BridgeStates *local.BridgeStates
	Halts        local.Halts
	Budgets      local.Budgets
	Summaries    local.Summaries
}

// NewCore makes the core of a hub whose configuration has all its defaults. The hub sets the hooks.
func NewCore(store storage.Store, config Config) *Core {
	c := &Core{
		Store: store, Config: config, Clock: config.Clock, Index: index.NewIndexer(store, config.Log),
		Bells: local.NewBells(), Turns: local.NewTurns(), Watches: local.NewWatches(), Attendance: local.NewAttendance(),
		WokenAgents: local.NewRung(), Live: local.NewLiveRuns(), BridgeStates: local.NewBridgeStates(),
	}
	c.Started = c.Now()
	return c
}

// AfterCommit wakes those who wait for what has changed.
func (c *Core) AfterCommit(changes *Changes) {
	c.Index.Poke()
	c.Bells.Ring(changes.Woken...)
	c.WokenAgents.Note(changes.Woken)
	c.Watches.Tell(slices.Concat(changes.Touched, changes.Woken))
	c.Summaries.Note(changes.Stirred)
	c.Halts.Expect(changes.Halts)
	for _, line := range changes.Warnings {
		c.Config.Log.Warn(line)
	}
}

package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Options configure a dispatcher. The zero value of a number means its default.
type Options struct {
	Node     string        // the name of this process of the hub, which stays the same after a restart
	Total    int           // how many runs of all agents may be live at once, answers to asks not included; default 64
	Deadline time.Duration // how long a run may last, unless its agent sets another deadline; default 30 minutes
	Grace    time.Duration // how long live runs may take to end at a stop; default 10 s, negative: no time

	// URL returns the URL by which a run calls the hub with a token of this kind.
	URL func(parley.TokenKind) string

	// Runtime returns the runtime of an agent. If there is none of that name, it returns E003 with the names that exist.
	Runtime func(parley.Agent) (parley.Runtime, error)
	// Prompt makes the prompt of a run.
	Prompt func(parley.RunContext) parley.Prompt
	// Dir returns the directory of an agent, by its id.
	Dir func(agent string) string
	// Files returns the identity files in the directory of an agent.
	Files func(dir string) ([]parley.IdentityFile, error)
	// Tools returns the tools that the runs of an agent may use.
	Tools func(parley.Agent) []parley.ToolDoc

	Processes Processes
	Log       *slog.Logger // default: slog.Default
}

// Processes keeps track of the processes that runs have started on this machine.
type Processes interface {
	// Add makes a process, and everything that descends from it, act for a run of an agent until remove is called. If the process
	// has already ended, Add does nothing.
	Add(pid int, agent, run string) (remove func())
	// Started returns the start time of a process, which distinguishes it from a later process with the same number. It returns
	// an error if the process has ended.
	Started(pid int) (int64, error)
	// Kill ends the processes that runs have left behind, and returns when all of them have ended. It returns an error if some
	// may still be running when ctx is done.
	Kill(ctx context.Context, runs []parley.Run) error
}

// instant is a runtime whose runs start at once and need no prompt.
type instant interface{ Instant() bool }

// timed is a runtime whose agents may set a deadline for their runs.
type timed interface {
	// Deadline returns how long a run of the agent may last, or 0 if the agent sets no deadline.
	Deadline(parley.Agent) time.Duration
}

// credentialed is a runtime whose runs call the hub from another process, and need a token for their calls.
type credentialed interface {
	RunToken(parley.Agent) parley.TokenKind
}

// plan returns the settings of an agent's next run, which the hub needs before the run starts.
func (o Options) plan(a parley.Agent) hub.RunPlan {
	plan := hub.RunPlan{Deadline: o.Deadline}
	runtime, err := o.Runtime(a)
	if err != nil {
		return plan // the run will fail with this error
	}
	if r, ok := runtime.(timed); ok && r.Deadline(a) > 0 {
		plan.Deadline = r.Deadline(a)
	}
	if r, ok := runtime.(credentialed); ok {
		plan.Token = r.RunToken(a)
	}
	plan.Instant = isInstant(runtime)
	return plan
}

func isInstant(runtime parley.Runtime) bool {
	r, ok := runtime.(instant)
	return ok && r.Instant()
}

const (
	defaultTotal    = 64
	defaultDeadline = 30 * time.Minute
	defaultGrace    = 10 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Total == 0 {
		o.Total = defaultTotal
	}
	if o.Deadline == 0 {
		o.Deadline = defaultDeadline
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.URL == nil {
		o.URL = func(parley.TokenKind) string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Options are what a dispatcher is told. The zero value of a number means its default.
type Options struct {
	Node     string        // this process of the hub, by a name that outlives it
	Total    int           // runs at the same time, of all agents; default 64
	Deadline time.Duration // how long a run may last, unless its agent says otherwise; default 30 minutes
	Grace    time.Duration // what runs get to end by themselves at a stop; default 10 s, negative: nothing

	// URL is where a run reaches the hub with a token of this kind.
	URL func(parley.TokenKind) string

	// Runtime is what runs an agent. E003, with what there is, if nothing does.
	Runtime func(parley.Agent) (parley.Runtime, error)
	// Prompt makes the prompt of a run.
	Prompt func(parley.RunContext) parley.Prompt
	// Dir is an agent's own directory, Files the identity files in one. Tools are those a run may use.
	Dir   func(agent string) string
	Files func(dir string) ([]parley.IdentityFile, error)
	Tools func(parley.Agent) []parley.ToolDoc

	Processes Processes
	Log       *slog.Logger // default: slog.Default
}

// Processes are those of this machine, as far as runs have started them.
type Processes interface {
	// Add says that a process, and all that descends from it, speaks for an agent's run until it is removed.
	Add(pid int, agent, run string) (remove func())
	// Started tells a process from a later one with the same number.
	Started(pid int) (int64, error)
	// Kill ends what runs have left behind, and returns when nothing of it goes on.
	Kill(ctx context.Context, runs []parley.Run) error
}

// instant is a runtime whose runs start at once, and are told nothing but what woke them.
type instant interface{ Instant() bool }

// timed is a runtime whose agents may say how long their runs last. 0: it does not say.
type timed interface {
	Deadline(parley.Agent) time.Duration
}

// credentialed is a runtime whose runs call the hub from outside of its process, and need a token for that.
type credentialed interface {
	RunToken(parley.Agent) parley.TokenKind
}

// plan is what is known of the runs of an agent before they start.
func (o Options) plan(a parley.Agent) hub.RunPlan {
	plan := hub.RunPlan{Deadline: o.Deadline}
	runtime, err := o.Runtime(a)
	if err != nil {
		return plan // of a run that says so
	}
	if says, ok := runtime.(timed); ok && says.Deadline(a) > 0 {
		plan.Deadline = says.Deadline(a)
	}
	if needs, ok := runtime.(credentialed); ok {
		plan.Token = needs.RunToken(a)
	}
	plan.Instant = isInstant(runtime)
	return plan
}

func isInstant(runtime parley.Runtime) bool {
	at, ok := runtime.(instant)
	return ok && at.Instant()
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

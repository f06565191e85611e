package dispatch

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// activeRun is one live run.
type activeRun struct {
	*hub.Assignment
	dispatcher *Dispatcher
	options    Options
	hub        Course
	checkNow   chan struct{} // somebody may want it to end
	begun      atomic.Bool
	unregister func() // the process it is at
}

func newActiveRun(d *Dispatcher, a *hub.Assignment) *activeRun {
	return &activeRun{
		Assignment: a, dispatcher: d, options: d.options, hub: d.hub,
		checkNow: make(chan struct{}, 1), unregister: func() {},
	}
}

// run does the run from its start to its end. It keeps the leases until the hub has stored the end.
func (l *activeRun) run() {
	ctx, cancel := context.WithCancelCause(l.dispatcher.runs)
	defer cancel(nil)
	keeping, kept := context.WithCancel(context.WithoutCancel(ctx))
	defer kept()
	go l.keep(keeping, cancel)

	limited, done := context.WithDeadlineCause(ctx, l.Run.Deadline, errDeadline)
	defer done()
	result, err := l.perform(limited)
	l.unregister()
	l.settle(result, l.failureOf(limited, err))
}

// perform has the runtime do the run. Whatever goes wrong in one ends the run, not the hub.
func (l *activeRun) perform(ctx context.Context) (result parley.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.options.Log.Error("a runtime has panicked", "run", l.Run.ID, "runtime", l.Agent.Runtime, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the runtime %s has panicked: %v", l.Agent.Runtime, p)
		}
	}()
	runtime, err := l.options.Runtime(l.Agent)
	if err == nil {
		err = runtime.Check(ctx, l.Agent)
	}
	if err != nil {
		return result, startError(err)
	}
	job := l.job()
	if !isInstant(runtime) {
		err = l.prompt(ctx, &job)
	}
	if err != nil {
		return result, startError(err)
	}
	if result, err = runtime.Run(ctx, job); err == nil && !l.begun.Load() {
		err = l.begin(ctx, parley.Process{})
	}
	return result, err
}

// job is the run without what it is told.
func (l *activeRun) job() parley.Job {
	return parley.Job{
		Run: l.Run, Agent: l.Agent, Triggers: l.Messages, Token: l.Token,
		URL: l.options.URL(l.Kind), Dir: l.options.Dir(l.Agent.ID),
		Workspace: l.hub.At(l.Caller()),
		Begin:     l.begin,
		Say:       func(text string) { l.hub.RunSays(l.Run.ID, l.hide(text)) },
		Log:       func(output []byte) { l.hub.RunLogs(l.Run.ID, []byte(l.hide(string(output)))) },
	}
}

// prompt adds what the run is told.
func (l *activeRun) prompt(ctx context.Context, job *parley.Job) error {
	known, err := l.hub.RunContext(ctx, l.Run.ID)
	if err == nil {
		known.Files, err = l.options.Files(job.Dir)
	}
	if err != nil {
		return err
	}
	known.Tools = l.options.Tools(l.Agent)
	job.Tools, job.Prompt = known.Tools, l.options.Prompt(known)
	job.Fresh = func() parley.Prompt { return l.options.Prompt(known.Fresh()) }
	return nil
}

// hide takes the secret of the run's token out of what a runtime says. Whoever reads it could act for the agent.
func (l *activeRun) hide(text string) string {
	if l.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, l.Token, "[hidden]")
}

// begin makes the process known before the hub, so that it cannot call as a stranger.
func (l *activeRun) begin(ctx context.Context, p parley.Process) (err error) {
	if p.PID != 0 {
		l.unregister() // one that it began with before: its number may be another's by now
		l.unregister = l.options.Processes.Add(p.PID, l.Agent.ID, l.Run.ID)
		if p.Started, err = l.options.Processes.Started(p.PID); err != nil {
			return startError(fmt.Errorf("its process has ended at once: %w", err))
		}
	}
	if l.begun.Store(true); l.Run.State == parley.RunRunning && p.PID == 0 {
		return nil // the hub has known since it made the run
	}
	if err := l.hub.BeginRun(ctx, l.Run.ID, p); err != nil {
		return startError(err) // nobody has seen anything yet
	}
	return nil
}

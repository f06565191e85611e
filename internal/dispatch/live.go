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
	hub        LiveRuns
	checkNow   chan struct{} // signals that a participant may have cancelled the run
	begun      atomic.Bool
	unregister func() // removes the process of the run from Options.Processes
}

func newActiveRun(d *Dispatcher, a *hub.Assignment) *activeRun {
	return &activeRun{
		Assignment: a, dispatcher: d, options: d.options, hub: d.hub,
		checkNow: make(chan struct{}, 1), unregister: func() {},
	}
}

// run does the run from its start to its end. It keeps the leases until the hub has stored the end.
func (r *activeRun) run() {
	ctx, cancel := context.WithCancelCause(r.dispatcher.runs)
	defer cancel(nil)
	keepContext, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	defer stopKeeping()
	go r.extendLease(keepContext, cancel)

	limited, done := context.WithDeadlineCause(ctx, r.Run.Deadline, errDeadline)
	defer done()
	result, err := r.perform(limited)
	r.unregister()
	r.settle(result, r.failureOf(limited, err))
}

// perform lets the runtime do the run. A panic of the runtime fails the run and does not end the hub.
func (r *activeRun) perform(ctx context.Context) (result parley.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.options.Log.Error("a runtime has panicked; its run fails", "run", r.Run.ID, "runtime", r.Agent.Runtime, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the runtime %s has panicked: %v", r.Agent.Runtime, p)
		}
	}()
	runtime, err := r.options.Runtime(r.Agent)
	if err == nil {
		err = runtime.Check(ctx, r.Agent)
	}
	if err != nil {
		return result, startError(err)
	}
	request := r.runRequest()
	if !isInstant(runtime) {
		err = r.addPrompt(ctx, &request)
	}
	if err != nil {
		return result, startError(err)
	}
	if result, err = runtime.Run(ctx, request); err == nil && !r.begun.Load() {
		err = r.begin(ctx, parley.Process{})
	}
	return result, err
}

// runRequest returns what the runtime is to run, without its prompt and tools.
func (r *activeRun) runRequest() parley.RunRequest {
	return parley.RunRequest{
		Run: r.Run, Agent: r.Agent, Triggers: r.Messages, Token: r.Token,
		URL: r.options.URL(r.Kind), Dir: r.options.Dir(r.Agent.ID),
		Workspace: r.hub.At(r.Caller()),
		Begin:     r.begin,
		Say:       func(text string) { r.hub.RunSays(r.Run.ID, r.hide(text)) },
		Log:       func(output []byte) { r.hub.RunLogs(r.Run.ID, []byte(r.hide(string(output)))) },
	}
}

// addPrompt adds the prompt and the tools to the request of the run.
func (r *activeRun) addPrompt(ctx context.Context, request *parley.RunRequest) error {
	runContext, err := r.hub.RunContext(ctx, r.Run.ID)
	if err == nil {
		runContext.Files, err = r.options.Files(request.Dir)
	}
	if err != nil {
		return err
	}
	runContext.Tools = r.options.Tools(r.Agent)
	request.Tools, request.Prompt = runContext.Tools, r.options.Prompt(runContext)
	request.Fresh = func() parley.Prompt { return r.options.Prompt(runContext.Fresh()) }
	return nil
}

// hide removes the token of the run from the output of a runtime. A reader of the output could act as the agent with the token.
func (r *activeRun) hide(text string) string {
	if r.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, r.Token, "[hidden]")
}

// begin registers the process of the run, and then reports the begin to the hub. The process is registered first, so that the
// hub knows its agent at its first call.
func (r *activeRun) begin(ctx context.Context, p parley.Process) (err error) {
	if p.PID != 0 {
		r.unregister() // the process of an earlier begin has ended, and another process may have got its number
		r.unregister = r.options.Processes.Add(p.PID, r.Agent.ID, r.Run.ID)
		if p.Started, err = r.options.Processes.Started(p.PID); err != nil {
			return startError(fmt.Errorf("its process has ended at once: %w", err))
		}
	}
	if r.begun.Store(true); r.Run.State == parley.RunRunning && p.PID == 0 {
		return nil // the hub began the run when it made it
	}
	if err := r.hub.BeginRun(ctx, r.Run.ID, p); err != nil {
		return startError(err) // no recipient has seen a message yet, so the hub may retry
	}
	return nil
}

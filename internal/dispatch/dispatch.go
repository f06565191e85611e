// Package dispatch runs agents that have pending messages. It starts a runtime for each run that the hub hands out, extends the
// leases of the run while the run lives, and reports its end to the hub.
//
// One loop starts runs. Only the loop knows which agents have pending work and how many runs are live. It asks the hub for
// the runs of several agents at once, so that the store can write them together. Each run has a goroutine that does the run,
// and another that extends its leases. They share nothing but the hub, and report to the loop by channels. The loop reads
// the channels until no run is left.
package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/service"
)

// Hub is the part of the hub that a dispatcher uses. A method also returns the error of the store if the store fails.
type Hub interface {
	RunSource
	LiveRuns
	Recovery
}

// RunSource has the calls that hand out runs.
type RunSource interface {
	// AgentsToCheck returns a channel that receives when the state of an agent has changed, and a function that returns these
	// agents since its last call. The end of a run is such a change.
	AgentsToCheck() (agents func() []string, wait <-chan struct{})
	// AgentsToWake returns the agents with pending deliveries, including deliveries that another process stored.
	AgentsToWake(ctx context.Context) ([]string, error)
	// NextRun hands out the next run of an agent. It returns nil if no run can start now.
	NextRun(ctx context.Context, agent string, o hub.RunOptions) (*hub.Assignment, error)
}

// LiveRuns has the calls about a live run. run is the id of the run.
type LiveRuns interface {
	// RunContext returns the content of the prompt of a run, except the identity files and the tools. It returns E003 with the
	// reason Conflict if the hub has no such run.
	RunContext(ctx context.Context, run string) (parley.RunContext, error)
	// BeginRun marks the triggers of a run as seen, and stores the process that has started. The dispatcher calls it again if the
	// runtime restarts its client. It returns E003 with the reason Conflict if the run has ended.
	BeginRun(ctx context.Context, run string, p parley.Process) error
	// ExtendRunLease extends the leases of a run. It returns the reason for which the run must end, or "" if nobody has cancelled the
	// run. It returns E003 with the reason Conflict if the run has ended.
	ExtendRunLease(ctx context.Context, run string) (cancel string, err error)
	// FinishRun posts the answer of a run and ends the run. It returns the run unchanged if the run has ended before, and E003
	// with the reason Conflict if the hub has no such run.
	FinishRun(ctx context.Context, run string, r parley.Result, output []byte) (parley.Run, error)
	// FailRun ends a run that has failed. The hub decides which messages it retries. FailRun returns the run unchanged if the run
	// has ended before, and E003 with the reason Conflict if the hub has no such run.
	FailRun(ctx context.Context, run string, why *parley.RunError, r parley.Result, output []byte) (parley.Run, error)
	// RunSays shows progress text to the participants that follow the events of a run. It ignores a run that has ended.
	RunSays(run, text string)
	// RunLogs adds output to the log of a run. It ignores a run that has ended.
	RunLogs(run string, output []byte)
	// At returns the operations of the hub as one caller may use them.
	At(caller hub.Caller) parley.Workspace
}

// Recovery has the calls about runs of an earlier process.
type Recovery interface {
	// LostRuns returns the runs that an earlier process with this name has left: runs that still count as live, and lost runs
	// whose process may still be alive.
	LostRuns(ctx context.Context, node string) ([]parley.Run, error)
	// RecoverRun ends a lost run and makes its messages pending again. The caller has ended the process of the run. RecoverRun
	// does nothing if the hub has no such run.
	RecoverRun(ctx context.Context, run string) error
}

// pollEvery is how often the loop asks for agents with pending work. The hub sends no signal for work that another process has
// stored, or for work that has become due.
const pollEvery = 2 * time.Second

// Dispatcher starts runs until it is stopped.
type Dispatcher struct {
	hub     Hub
	options Options
	loop    *service.Service

	queue    queue
	changed  map[string]bool // agents that have changed since the loop last requested one of their runs
	requests requestCount    // how many requests for runs are under way
	replies  chan runReply
	live     map[*activeRun]bool // runs that have not reported their end
	counted  int                 // live runs that count against Options.Total: all except the answers to asks
	ended    chan *activeRun     // runs that report their end

	runs   context.Context // the context of all runs
	cancel context.CancelCauseFunc
}

// requestCount counts requests for runs.
type requestCount struct{ any, asks int }

func (a requestCount) total() int { return a.any + a.asks }

// runReply is the hub's reply to a request for a run.
type runReply struct {
	agent    string
	asksOnly bool
	run      *hub.Assignment
	err      error
}

// maxRequests is how many requests for runs may be open at once.
const maxRequests = 16

// New makes a dispatcher for a hub.
func New(h Hub, o Options) *Dispatcher {
	o = o.withDefaults()
	d := &Dispatcher{
		hub: h, options: o, queue: newQueue(), replies: make(chan runReply, maxRequests),
		changed: map[string]bool{}, live: map[*activeRun]bool{}, ended: make(chan *activeRun, o.Total),
	}
	d.loop = service.New(d.run)
	return d
}

// Start recovers the runs of an earlier process, and then starts runs. It returns when the loop runs.
func (d *Dispatcher) Start(ctx context.Context) {
	d.loop.Start(ctx)
	<-d.loop.Started()
}

// Stop starts no more runs. It gives live runs some time to end, returns the others to the hub, and waits for all of them.
func (d *Dispatcher) Stop() { d.loop.Stop() }

func (d *Dispatcher) run(ctx context.Context, started func()) {
	d.runs, d.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer d.cancel(nil)
	d.recover(ctx)
	started()
	d.serve(ctx)
	d.drain()
}

// serve starts runs until ctx is done.
func (d *Dispatcher) serve(ctx context.Context) {
	changedAgents, signal := d.hub.AgentsToCheck()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	d.poll(ctx)
	for ctx.Err() == nil {
		d.requestRuns(ctx)
		select {
		case <-ctx.Done():
		case a := <-d.replies:
			d.handleReply(a)
		case <-signal:
			d.noteChanged(changedAgents())
		case r := <-d.ended:
			d.removeRun(r) // if its agent has more pending work, the hub also sends a signal
		case <-poll.C:
			d.poll(ctx)
		}
	}
}

// noteChanged handles agents whose state has changed: the loop may start a run of them, or must cancel one.
func (d *Dispatcher) noteChanged(agents []string) {
	d.add(agents)
	for r := range d.live {
		if slices.Contains(agents, r.Agent.ID) {
			r.checkSoon()
		}
	}
}

func (d *Dispatcher) poll(ctx context.Context) {
	agents, err := d.hub.AgentsToWake(ctx)
	if err != nil && ctx.Err() == nil {
		d.options.Log.Warn("cannot list agents with pending work; retrying soon", "error", err)
	}
	d.add(agents)
}

// add notes agents that may have pending work.
func (d *Dispatcher) add(agents []string) {
	d.queue.add(agents...)
	for _, agent := range agents {
		d.changed[agent] = true
	}
}

// requestRuns requests as many runs as there are free slots, one for each agent in turn. If no slot is free, it requests only
// runs that answer asks, because the runs that hold the slots may wait for these answers.
func (d *Dispatcher) requestRuns(ctx context.Context) {
	for d.requests.total() < maxRequests && d.hasFreeSlot() {
		agent, ok := d.queue.next()
		if !ok {
			return
		}
		delete(d.changed, agent)
		d.requests.any++
		d.request(ctx, agent, false)
	}
	for agent := range d.changed {
		if d.requests.total() >= maxRequests {
			return
		}
		delete(d.changed, agent)
		d.requests.asks++
		d.request(ctx, agent, true)
	}
}

func (d *Dispatcher) hasFreeSlot() bool { return d.requests.any+d.counted < d.options.Total }

func (d *Dispatcher) request(ctx context.Context, agent string, asksOnly bool) {
	go func() {
		run, err := d.hub.NextRun(ctx, agent, hub.RunOptions{Node: d.options.Node, Plan: d.options.plan, AsksOnly: asksOnly})
		d.replies <- runReply{agent, asksOnly, run, err}
	}()
}

func (d *Dispatcher) handleReply(a runReply) {
	more := a.run != nil // after a run, the agent may have another one
	if a.asksOnly {
		d.requests.asks--
	} else {
		d.requests.any--
		d.queue.replied(a.agent, more)
	}
	if more {
		d.changed[a.agent] = true
	}
	switch {
	case a.run != nil:
		d.start(a.run)
	case a.err != nil && !errors.Is(a.err, context.Canceled):
		d.options.Log.Warn("cannot start a run; retrying soon", "agent", a.agent, "error", a.err) // the next poll retries
	}
}

func (d *Dispatcher) start(a *hub.Assignment) {
	r := newActiveRun(d, a)
	d.live[r] = true
	if !a.Run.Ask {
		d.counted++
	}
	go func() {
		defer func() { d.ended <- r }()
		r.run()
	}()
}

func (d *Dispatcher) removeRun(r *activeRun) {
	delete(d.live, r)
	if !r.Run.Ask {
		d.counted--
	}
}

// drain waits for the live runs. After the grace period it cancels them.
func (d *Dispatcher) drain() {
	grace := time.NewTimer(d.options.Grace)
	defer grace.Stop()
	for d.requests.total()+len(d.live) > 0 {
		select {
		case a := <-d.replies:
			d.handleReply(a)
		case r := <-d.ended:
			d.removeRun(r)
		case <-grace.C:
			d.cancel(errStopping)
		}
	}
}

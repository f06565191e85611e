// Package dispatch makes runs of what waits for agents: it starts a runtime for each run the hub hands out,
// keeps its leases while it lives, and tells the hub how it ended.
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

// Hub is what a dispatcher needs of the hub.
type Hub interface {
	Work
	Course
	Recovery
}

// Work has the calls that hand out runs.
type Work interface {
	// AgentsToCheck returns a channel that receives when the state of an agent has changed, and a function that returns these
	// agents since its last call. The end of a run is such a change.
	AgentsToCheck() (agents func() []string, wait <-chan struct{})
	// Waiting returns the agents with pending deliveries, including those that another process stored.
	Waiting(ctx context.Context) ([]string, error)
	// NextRun hands out the next run of an agent, or nil if there is none to start now.
	NextRun(ctx context.Context, agent string, o hub.RunOptions) (*hub.Assignment, error)
}

// Course has the calls about a live run. They return E003 with the reason Conflict if the run has ended.
type Course interface {
	RunContext(ctx context.Context, run string) (parley.RunContext, error)
	BeginRun(ctx context.Context, run string, p parley.Process) error
	KeepRun(ctx context.Context, run string) (cancel string, err error)
	FinishRun(ctx context.Context, run string, r parley.Result, output []byte) (parley.Run, error)
	FailRun(ctx context.Context, run string, why *parley.RunError, r parley.Result, output []byte) (parley.Run, error)
	RunSays(run, text string)
	RunLogs(run string, output []byte)
	At(caller hub.Caller) parley.Workspace
}

// Recovery has the calls about runs of an earlier process.
type Recovery interface {
	LostRuns(ctx context.Context, node string) ([]parley.Run, error)
	RecoverRun(ctx context.Context, run string) error
}

// pollEvery is how often the loop asks for changes without a signal: work that another process stored, and work that has
// become due.
const pollEvery = 2 * time.Second

// Dispatcher starts runs until it is stopped.
type Dispatcher struct {
	hub     Hub
	options Options
	loop    *service.Service

	queue    queue
	changed  map[string]bool // agents whose asks were not looked at since something has happened to them
	requests requestCount    // how many requests for runs are on their way
	replies  chan runReply
	live     map[*activeRun]bool // runs that have not been reported as ended
	plain    int                 // of them, those that answer no ask: there is a bound on these
	ended    chan *activeRun     // those that have

	runs   context.Context // of all runs
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
	rung, bell := d.hub.AgentsToCheck()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	d.poll(ctx)
	for ctx.Err() == nil {
		d.requestRuns(ctx)
		select {
		case <-ctx.Done():
		case a := <-d.replies:
			d.handleReply(a)
		case <-bell:
			d.noteChanged(rung())
		case l := <-d.ended:
			d.removeRun(l) // if something has waited for its end, the hub has rung
		case <-poll.C:
			d.poll(ctx)
		}
	}
}

// noteChanged handles agents whose state has changed: there may be a run to start, or one to cancel.
func (d *Dispatcher) noteChanged(agents []string) {
	d.add(agents)
	for l := range d.live {
		if slices.Contains(agents, l.Agent.ID) {
			l.checkSoon()
		}
	}
}

func (d *Dispatcher) poll(ctx context.Context) {
	agents, err := d.hub.Waiting(ctx)
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
	for d.requests.total() < maxRequests && d.hasRoom() {
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

func (d *Dispatcher) hasRoom() bool { return d.requests.any+d.plain < d.options.Total }

func (d *Dispatcher) request(ctx context.Context, agent string, asksOnly bool) {
	go func() {
		run, err := d.hub.NextRun(ctx, agent, hub.RunOptions{Node: d.options.Node, Plan: d.options.plan, AsksOnly: asksOnly})
		d.replies <- runReply{agent, asksOnly, run, err}
	}()
}

func (d *Dispatcher) handleReply(a runReply) {
	more := a.run != nil // after one there may be another
	if a.asksOnly {
		d.requests.asks--
	} else {
		d.requests.any--
		d.queue.answered(a.agent, more)
	}
	if more {
		d.changed[a.agent] = true
	}
	switch {
	case a.run != nil:
		d.start(a.run)
	case a.err != nil && !errors.Is(a.err, context.Canceled):
		d.options.Log.Warn("cannot start a run; retrying soon", "agent", a.agent, "error", a.err) // the next poll tries again
	}
}

func (d *Dispatcher) start(a *hub.Assignment) {
	l := newActiveRun(d, a)
	d.live[l] = true
	if !a.Run.Ask {
		d.plain++
	}
	go func() {
		defer func() { d.ended <- l }()
		l.run()
	}()
}

func (d *Dispatcher) removeRun(l *activeRun) {
	delete(d.live, l)
	if !l.Run.Ask {
		d.plain--
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
		case l := <-d.ended:
			d.removeRun(l)
		case <-grace.C:
			d.cancel(errStopping)
		}
	}
}

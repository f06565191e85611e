package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

var _ Hub = (*hub.Hub)(nil)

// fakeHub hands out runs, one for each thing that waits, and notes what it is told.
type fakeHub struct {
	bell chan struct{}

	mu        sync.Mutex
	rung      []string
	waiting   map[string][]string // agent → what is to be done
	live      map[string]bool
	made      int
	told      []string // everything in its order
	kept      []time.Time
	cancel    map[string]string
	lost      []parley.Run
	keepErr   error
	beginErr  error
	finishErr []error // of the next calls
	resumed   bool
}

func newFakeHub() *fakeHub {
	return &fakeHub{
		bell: make(chan struct{}, 1), waiting: map[string][]string{}, live: map[string]bool{}, cancel: map[string]string{},
	}
}

// anAsk is something to be done for somebody who waits.
const anAsk = "an ask"

// quietly adds something to be done, as another process does.
func (h *fakeHub) quietly(agent string, work ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[agent] = append(h.waiting[agent], work...)
}

func (h *fakeHub) post(agent string, work ...string) {
	h.quietly(agent, work...)
	h.ring(agent)
}

func (h *fakeHub) ring(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rung = append(h.rung, agent)
	select {
	case h.bell <- struct{}{}:
	default:
	}
}

func (h *fakeHub) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

// wantTold compares what the hub was told, from the first line that is wanted on.
func (h *fakeHub) wantTold(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.told, want) {
		t.Errorf("the hub was told\n%q, want\n%q", h.told, want)
	}
}

func (h *fakeHub) AgentsToCheck() (agents func() []string, wait <-chan struct{}) {
	return func() []string {
		h.mu.Lock()
		defer h.mu.Unlock()
		rung := h.rung
		h.rung = nil
		return rung
	}, h.bell
}

func (h *fakeHub) Waiting(context.Context) (agents []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for agent, work := range h.waiting {
		if len(work) > 0 {
			agents = append(agents, agent)
		}
	}
	slices.Sort(agents)
	return agents, nil
}

func (h *fakeHub) NextRun(_ context.Context, agent string, o hub.RunOptions) (*hub.Assignment, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	work := h.waiting[agent]
	if len(work) == 0 || o.AsksOnly && work[0] != anAsk {
		return nil, nil
	}
	h.waiting[agent] = work[1:]
	h.made++
	a := parley.Agent{ID: agent, Profile: parley.Profile{Runtime: "fake"}}
	plan, now := o.Plan(a), time.Now()
	run := parley.Run{
		ID: fmt.Sprintf("run-%d", h.made), Agent: agent, Node: o.Node, State: parley.RunStarting,
		CreatedAt: now, Deadline: now.Add(plan.Deadline),
	}
	if work[0] == anAsk {
		run.Depth = 1
	}
	if plan.Instant {
		run.State = parley.RunRunning
	}
	h.live[run.ID] = true
	return &hub.Assignment{
		Run: run, Agent: a, Token: "secret of " + run.ID, Kind: parley.TokenRun,
		Messages: []parley.Message{{Content: parley.Content{Text: work[0]}}},
	}, nil
}

func (h *fakeHub) RunContext(_ context.Context, run string) (parley.RunContext, error) {
	return parley.RunContext{Run: parley.Run{ID: run}, Resumed: h.resumed}, nil
}

func (h *fakeHub) BeginRun(_ context.Context, run string, p parley.Process) error {
	if h.beginErr != nil {
		return h.beginErr
	}
	h.tell("%s begun with %d", run, p.PID)
	return nil
}

func (h *fakeHub) KeepRun(_ context.Context, run string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.live[run] {
		return "", parley.Errorf(parley.BadInput, "it is over").Because(parley.Conflict)
	}
	if h.keepErr != nil {
		return "", h.keepErr
	}
	h.kept = append(h.kept, time.Now())
	return h.cancel[run], nil
}

func (h *fakeHub) end(run, format string, args ...any) (parley.Run, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.live[run] {
		return parley.Run{}, parley.Errorf(parley.BadInput, "it is over").Because(parley.Conflict)
	}
	delete(h.live, run)
	h.told = append(h.told, run+" "+fmt.Sprintf(format, args...))
	return parley.Run{}, nil
}

func (h *fakeHub) FinishRun(_ context.Context, run string, r parley.Result, _ []byte) (parley.Run, error) {
	h.mu.Lock()
	var err error
	if len(h.finishErr) > 0 {
		err, h.finishErr = h.finishErr[0], h.finishErr[1:]
	}
	h.mu.Unlock()
	if err != nil {
		return parley.Run{}, err
	}
	return h.end(run, "says %q", r.Text)
}

func (h *fakeHub) FailRun(_ context.Context, run string, why *parley.RunError, r parley.Result, _ []byte) (parley.Run, error) {
	return h.end(run, "failed, %s: %v%s", why.Failure, why, r.Text)
}

func (h *fakeHub) RunSays(run, text string) { h.tell("%s said %q", run, text) }

func (h *fakeHub) RunLogs(run string, output []byte) { h.tell("%s wrote %q", run, output) }

func (h *fakeHub) At(c hub.Caller) parley.Workspace { return nil }

func (h *fakeHub) LostRuns(_ context.Context, node string) ([]parley.Run, error) {
	h.tell("lost runs of %s", node)
	return h.lost, nil
}

func (h *fakeHub) RecoverRun(_ context.Context, run string) error {
	h.tell("%s recovered", run)
	return nil
}

// fakeProcesses notes what is said of processes among what the hub is told.
type fakeProcesses struct{ hub *fakeHub }

func (p fakeProcesses) Add(pid int, agent, _ string) (remove func()) {
	p.hub.tell("process %d is %s", pid, agent)
	return func() { p.hub.tell("process %d is nobody", pid) }
}

func (p fakeProcesses) Started(pid int) (int64, error) { return int64(pid), nil }

func (p fakeProcesses) Kill(_ context.Context, runs []parley.Run) error {
	for _, run := range runs {
		p.hub.tell("%s killed", run.ID)
	}
	return nil
}

// fakeRuntime does what it is told. Without anything it says at once what it was told to do.
type fakeRuntime struct {
	check error
	do    func(ctx context.Context, job parley.Job) (parley.Result, error)
}

func (r fakeRuntime) Check(context.Context, parley.Agent) error { return r.check }

func (r fakeRuntime) Run(ctx context.Context, job parley.Job) (parley.Result, error) {
	if r.do == nil {
		return parley.Result{Text: job.Triggers[0].Content.Text}, job.Begin(ctx, parley.Process{})
	}
	return r.do(ctx, job)
}

// swift is a runtime whose runs start at once, and whose agents say how long they last.
type swift struct {
	fakeRuntime
	deadline time.Duration
}

func (swift) Instant() bool { return true }

func (s swift) Deadline(parley.Agent) time.Duration { return s.deadline }

// untilEnded is a run that goes on until it is ended from outside.
func untilEnded(ctx context.Context, _ parley.Job) (parley.Result, error) {
	<-ctx.Done()
	return parley.Result{}, ctx.Err()
}

func options(h *fakeHub, r parley.Runtime) Options {
	return Options{
		Node:    "here",
		Runtime: func(parley.Agent) (parley.Runtime, error) { return r, nil },
		Prompt: func(c parley.RunContext) parley.Prompt {
			return parley.Prompt{System: fmt.Sprint(c.Files, c.Tools, c.Resumed), User: c.Run.ID}
		},
		Dir:       func(agent string) string { return "agents/" + agent },
		Files:     func(dir string) ([]parley.IdentityFile, error) { return []parley.IdentityFile{{Name: dir}}, nil },
		Tools:     func(parley.Agent) []parley.ToolDoc { return []parley.ToolDoc{{Name: "reply"}} },
		Processes: fakeProcesses{h},
		Log:       slog.New(slog.DiscardHandler),
	}
}

// begin starts a dispatcher that is stopped with the test, and forgets what the start told the hub.
func begin(t *testing.T, h *fakeHub, o Options) *Dispatcher {
	t.Helper()
	d := New(h, o)
	d.Start(t.Context())
	t.Cleanup(d.Stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = nil
	return d
}

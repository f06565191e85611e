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

// fakeHub hands out a run for each text that is pending, and records the calls that change it.
type fakeHub struct {
	signal chan struct{}

	mu        sync.Mutex
	changed   []string
	pending   map[string][]string // agent → texts of its messages
	live      map[string]bool
	started   int      // the number of runs so far
	calls     []string // every call that changes the hub, in order
	kept      []time.Time
	cancel    map[string]string
	lost      []parley.Run
	keepErr   error
	beginErr  error
	finishErr []error // the errors of the next calls of FinishRun
	resumed   bool
}

func newFakeHub() *fakeHub {
	return &fakeHub{
		signal: make(chan struct{}, 1), pending: map[string][]string{}, live: map[string]bool{}, cancel: map[string]string{},
	}
}

// askWork is the text of an ask, whose caller waits for the answer.
const askWork = "an ask"

// addWork adds texts without a signal, as another process does.
func (h *fakeHub) addWork(agent string, work ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending[agent] = append(h.pending[agent], work...)
}

// post adds texts and signals the change.
func (h *fakeHub) post(agent string, work ...string) {
	h.addWork(agent, work...)
	h.signalChange(agent)
}

func (h *fakeHub) signalChange(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed = append(h.changed, agent)
	select {
	case h.signal <- struct{}{}:
	default:
	}
}

func (h *fakeHub) record(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, fmt.Sprintf(format, args...))
}

// wantCalls compares the recorded calls.
func (h *fakeHub) wantCalls(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.calls, want) {
		t.Errorf("the calls were\n%q, want\n%q", h.calls, want)
	}
}

func (h *fakeHub) AgentsToCheck() (agents func() []string, wait <-chan struct{}) {
	return func() []string {
		h.mu.Lock()
		defer h.mu.Unlock()
		changed := h.changed
		h.changed = nil
		return changed
	}, h.signal
}

func (h *fakeHub) AgentsToWake(context.Context) (agents []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for agent, work := range h.pending {
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
	work := h.pending[agent]
	if len(work) == 0 || o.AsksOnly && work[0] != askWork {
		return nil, nil
	}
	h.pending[agent] = work[1:]
	h.started++
	a := parley.Agent{ID: agent, Profile: parley.Profile{Runtime: "fake"}}
	plan, now := o.Plan(a), time.Now()
	run := parley.Run{
		ID: fmt.Sprintf("run-%d", h.started), Agent: agent, Node: o.Node, State: parley.RunStarting,
		CreatedAt: now, Deadline: now.Add(plan.Deadline),
	}
	if work[0] == askWork {
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
	h.record("%s begun with %d", run, p.PID)
	return nil
}

func (h *fakeHub) ExtendRunLease(_ context.Context, run string) (string, error) {
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
	h.calls = append(h.calls, run+" "+fmt.Sprintf(format, args...))
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

func (h *fakeHub) RunSays(run, text string) { h.record("%s said %q", run, text) }

func (h *fakeHub) RunLogs(run string, output []byte) { h.record("%s wrote %q", run, output) }

func (h *fakeHub) At(c hub.Caller) parley.Workspace { return nil }

func (h *fakeHub) LostRuns(_ context.Context, node string) ([]parley.Run, error) {
	h.record("lost runs of %s", node)
	return h.lost, nil
}

func (h *fakeHub) RecoverRun(_ context.Context, run string) error {
	h.record("%s recovered", run)
	return nil
}

// fakeProcesses records its calls among those of the hub.
type fakeProcesses struct{ hub *fakeHub }

func (p fakeProcesses) Add(pid int, agent, _ string) (remove func()) {
	p.hub.record("process %d is %s", pid, agent)
	return func() { p.hub.record("process %d is nobody", pid) }
}

func (p fakeProcesses) Started(pid int) (int64, error) { return int64(pid), nil }

func (p fakeProcesses) Kill(_ context.Context, runs []parley.Run) error {
	for _, run := range runs {
		p.hub.record("%s killed", run.ID)
	}
	return nil
}

// fakeRuntime runs do. Without do, it answers with the text of its first trigger.
type fakeRuntime struct {
	check error
	do    func(ctx context.Context, request parley.RunRequest) (parley.Result, error)
}

func (r fakeRuntime) Check(context.Context, parley.Agent) error { return r.check }

func (r fakeRuntime) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	if r.do == nil {
		return parley.Result{Text: request.Triggers[0].Content.Text}, request.Begin(ctx, parley.Process{})
	}
	return r.do(ctx, request)
}

// instantRuntime is a runtime whose runs start at once, and whose agents set a deadline.
type instantRuntime struct {
	fakeRuntime
	deadline time.Duration
}

func (instantRuntime) Instant() bool { return true }

func (s instantRuntime) Deadline(parley.Agent) time.Duration { return s.deadline }

// untilEnded runs until its context is done.
func untilEnded(ctx context.Context, _ parley.RunRequest) (parley.Result, error) {
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

// begin starts a dispatcher, which stops with the test, and forgets the calls of its start.
func begin(t *testing.T, h *fakeHub, o Options) *Dispatcher {
	t.Helper()
	d := New(h, o)
	d.Start(t.Context())
	t.Cleanup(d.Stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = nil
	return d
}

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

const hubNode = "here"

// treeTest is a hub whose agents carry out trees of requests, with counts of all outcomes.
type treeTest struct {
	t      *testing.T
	home   string
	random *rand.Rand

	mu      sync.Mutex // guards process
	process *hubProcess

	calls       atomic.Int64   // contacts made
	returned    atomic.Int64   // contacts that returned
	interrupted atomic.Int64   // contacts whose caller died with its hub
	outcomes    sync.Map       // how many callers got each outcome
	repeated    map[string]int // how often the test has repeated each task, by its id
	parked      atomic.Int64   // asks whose answers have become tasks
	late        sync.Map       // asks that ended as late for their caller, by message id
}

// hubProcess is one process of the hub, from its start to its end.
type hubProcess struct {
	*hub.Hub
	db       *sqlite.DB
	dispatch *dispatch.Dispatcher
	ctx      context.Context // ends with the process
	kill     context.CancelFunc
	dead     atomic.Bool
	callers  sync.WaitGroup
}

var errDead = errors.New("the process is gone")

func (g *treeTest) current() *hubProcess {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.process
}

// startHub starts a process of the hub on the home.
func (g *treeTest) startHub() {
	g.t.Helper()
	l := &hubProcess{}
	l.ctx, l.kill = context.WithCancel(context.Background())
	var err error
	if l.db, err = sqlite.Open(l.ctx, g.home); err != nil {
		g.t.Fatal(err)
	}
	l.Hub, err = hub.New(l.ctx, mortalStore{l.db, l}, hub.Config{
		Node: hubNode, Rate: hub.Rate{PerSecond: -1, Burst: 1}, Log: slog.New(slog.DiscardHandler),
		Loops: hub.Loops{Exchanges: 1 << 30, Hops: 1 << 30}, DueEvery: 5 * time.Second, SweepEvery: time.Hour,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	l.dispatch = dispatch.New(l.Hub, dispatch.Options{
		Node: hubNode, Deadline: 5 * time.Minute, Grace: -1, Total: 1 << 10, Log: slog.New(slog.DiscardHandler),
		Runtime:   func(parley.Agent) (parley.Runtime, error) { return treeRuntime{g, l}, nil },
		Prompt:    func(parley.RunContext) parley.Prompt { return parley.Prompt{} },
		Dir:       func(string) string { return "" },
		Files:     func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools:     func(parley.Agent) []parley.ToolDoc { return nil },
		Processes: noProcesses{},
	})
	l.Start(l.ctx)
	l.dispatch.Start(l.ctx)
	g.mu.Lock()
	g.process = l
	g.mu.Unlock()
	l.callers.Go(func() { g.session(l) })
	l.callers.Go(func() { g.decideApprovals(l) })
}

// killHub kills the process. From now on the process writes nothing to disk.
func (g *treeTest) killHub() {
	l := g.current()
	l.dead.Store(true)
	l.kill()
	l.dispatch.Stop()
	l.Stop()
	l.callers.Wait()
	if err := l.db.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// mortalStore is a store that writes nothing once its process is dead.
type mortalStore struct {
	storage.Store
	process *hubProcess
}

func (m mortalStore) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return m.Store.Update(ctx, func(tx storage.Tx) error {
		if m.process.dead.Load() {
			return errDead
		}
		return fn(tx)
	})
}

// noProcesses is a registry of processes for runs without a process.
type noProcesses struct{}

func (noProcesses) Add(int, string, string) func()           { return func() {} }
func (noProcesses) Started(int) (int64, error)               { return 0, nil }
func (noProcesses) Kill(context.Context, []parley.Run) error { return nil }

// treeRuntime is a runtime. Its runs carry out the nodes in the messages that wake them.
type treeRuntime struct {
	*treeTest
	process *hubProcess
}

func (treeRuntime) Check(context.Context, parley.Agent) error { return nil }
func (treeRuntime) Instant() bool                             { return true }

func (a treeRuntime) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.process.ctx, cancel)()
	var text string
	for _, m := range request.Triggers {
		k, found := nodeIn(m.Content.Text)
		if !found || m.From == parley.System {
			text += "I have read it. "
			continue
		}
		if k.RepliesFirst {
			me := hub.Caller{Agent: request.Agent.ID, Source: "run", Run: request.Run.ID}
			_, _ = a.process.Post(ctx, me, parley.Draft{InReplyTo: m.ID, Content: parley.Content{Text: "I begin"}})
		}
		answer, err := a.runNode(ctx, request.Workspace.(parley.Contacts), k, request.Run.Attempt)
		if err != nil {
			return parley.Result{}, err
		}
		text += answer
	}
	return parley.Result{Text: text, Usage: parley.Usage{InputTokens: 1}}, nil
}

// runNode carries out the steps of a node and ends as the node says.
func (a treeRuntime) runNode(ctx context.Context, hub parley.Contacts, k node, attempt int) (string, error) {
	for _, s := range k.Do {
		a.contact(a.process, s, func(c parley.Contact) (parley.Contacted, error) { return hub.Contact(ctx, c) })
	}
	sleep(ctx, k.Slow)
	switch {
	case k.End == hangs:
		<-ctx.Done()
		return "", context.Cause(ctx)
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case k.End == fails:
		return "", errors.New("it does not work")
	case k.End == stumbles && attempt == 1:
		return "", &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureServer, Reason: "it stumbled"}}
	case k.End == silent:
		return "", nil
	default:
		return "done. ", nil
	}
}

// sleep waits until the time has passed or the context has ended.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// contact makes a request and counts its outcome. A caller gets an outcome or dies with the hub.
func (g *treeTest) contact(l *hubProcess, s step, call func(parley.Contact) (parley.Contacted, error)) {
	g.calls.Add(1)
	contacted, err := call(parley.Contact{Pattern: s.Pattern, Agent: s.Agent, Message: s.Node.text(), Wait: s.Wait})
	if l.dead.Load() {
		g.interrupted.Add(1)
		return
	}
	g.returned.Add(1)
	g.count(s.Pattern, contacted.Outcome, err)
	switch {
	case parley.CodeOf(err) == parley.Internal:
		g.t.Errorf("a contact ended with %v", err)
	case s.Pattern == parley.PatternAsk && contacted.Outcome == parley.ContactLate:
		g.late.Store(contacted.Message, true)
	case s.Pattern == parley.PatternAsk: // a later attempt of the run got the answer of the same ask
		g.late.Delete(contacted.Message)
	}
}

// count counts an outcome that a caller got.
func (g *treeTest) count(pattern parley.Pattern, o parley.ContactOutcome, err error) {
	outcome := fmt.Sprintf("%s %s", pattern, o)
	if err != nil {
		outcome = fmt.Sprintf("%s %s", pattern, parley.CodeOf(err))
		for _, word := range []string{"depth", "→", "offline", "failed to respond", "did not respond", "cancelled"} {
			if strings.Contains(err.Error(), word) {
				outcome = fmt.Sprintf("%s %s", pattern, word)
				break
			}
		}
	}
	n, _ := g.outcomes.LoadOrStore(outcome, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// decideApprovals acts as the owner. It regularly lists pending approvals and approves most of them.
func (g *treeTest) decideApprovals(l *hubProcess) {
	for n := 0; l.ctx.Err() == nil; sleep(l.ctx, 37*time.Second) {
		list, err := l.Approvals(l.ctx, owner, parley.ApprovalFilter{State: parley.ApprovalPending, Limit: 1000})
		if err != nil {
			continue
		}
		for _, a := range list {
			n++
			_, err := l.Decide(l.ctx, owner, a.ID, parley.Decision{Approve: n%4 > 0}) // the approval may have been withdrawn
			if parley.CodeOf(err) == parley.Internal && !l.dead.Load() {
				g.t.Errorf("a decision ended with %v", err)
			}
		}
	}
}

// session is the client of the attached agent. It takes one delivery after the other and follows its instructions.
func (g *treeTest) session(l *hubProcess) {
	me := hub.Caller{Agent: "sess", Source: "api"}
	for l.ctx.Err() == nil {
		taken, err := l.Take(l.ctx, me, parley.Take{Limit: 1, Wait: 20 * time.Second, Waking: true, Seen: true, Lease: 10 * time.Minute})
		if err != nil {
			sleep(l.ctx, time.Second) // the test has not added the agent yet
			continue
		}
		for _, m := range taken.Messages {
			g.handleMessage(l, me, taken.Lease, m)
		}
	}
}

// handleMessage carries out the node in a message, as the attached agent.
func (g *treeTest) handleMessage(l *hubProcess, me hub.Caller, lease string, m parley.Message) {
	k, found := nodeIn(m.Content.Text)
	if !found || m.From == parley.System {
		if m.Task != "" { // a task without a node, or a callback of a subtask: nothing is left to do
			_, _ = l.UpdateTask(l.ctx, me, m.Task, parley.TaskChange{Status: parley.TaskCompleted})
		}
		_, _ = l.Ack(l.ctx, me, lease, m.ID)
		return
	}
	for _, s := range k.Do {
		g.contact(l, s, func(c parley.Contact) (parley.Contacted, error) { return l.Contact(l.ctx, me, c) })
	}
	sleep(l.ctx, min(k.Slow, 10*time.Second))
	// The hub refuses calls for a task or ask that has ended meanwhile. The test ignores these errors.
	switch {
	case k.End == hangs || k.End == stumbles:
		_, _ = l.Nack(l.ctx, me, lease, parley.Trouble{Failure: parley.FailureFinal, Reason: "forgotten"}, m.ID)
	case m.Task != "" && k.End == fails:
		_, _ = l.UpdateTask(l.ctx, me, m.Task, parley.TaskChange{Status: parley.TaskFailed, Reason: "it does not work"})
	case m.Task != "":
		_, _ = l.UpdateTask(l.ctx, me, m.Task, parley.TaskChange{Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: "done"}})
	case k.End == silent:
		_, _ = l.Ack(l.ctx, me, lease, m.ID)
	default:
		_, _ = l.Post(l.ctx, me, parley.Draft{InReplyTo: m.ID, Content: parley.Content{Text: "done"}})
	}
}

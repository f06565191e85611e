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

const treeNode = "here"

// grove is a hub whose agents play trees, with a record of all requests.
type grove struct {
	t      *testing.T
	home   string
	random *rand.Rand

	mu   sync.Mutex // guards life while it is replaced
	life *life

	calls  atomic.Int64   // contacts made
	freed  atomic.Int64   // contacts that returned
	cut    atomic.Int64   // contacts whose caller died with its hub
	ends   sync.Map       // what callers were told, in short, and how often
	again  map[string]int // how often a task was given again after its end, at most; by its id
	parked atomic.Int64   // asks that have become tasks
	late   sync.Map       // requests of which the caller was told that the answer will come
}

// life is one process of the hub, from its start to its end.
type life struct {
	*hub.Hub
	db       *sqlite.DB
	dispatch *dispatch.Dispatcher
	ctx      context.Context // of everything that dies with the process
	kill     context.CancelFunc
	dead     atomic.Bool
	callers  sync.WaitGroup
}

var errDead = errors.New("the process is gone")

func (g *grove) live() *life {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.life
}

// begin starts a process on the home.
func (g *grove) begin() {
	g.t.Helper()
	l := &life{}
	l.ctx, l.kill = context.WithCancel(context.Background())
	var err error
	if l.db, err = sqlite.Open(l.ctx, g.home); err != nil {
		g.t.Fatal(err)
	}
	l.Hub, err = hub.New(l.ctx, mortal{l.db, l}, hub.Config{
		Node: treeNode, Rate: hub.Rate{PerSecond: -1, Burst: 1}, Log: slog.New(slog.DiscardHandler),
		Loops: hub.Loops{Exchanges: 1 << 30, Hops: 1 << 30}, DueEvery: 5 * time.Second, SweepEvery: time.Hour,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	l.dispatch = dispatch.New(l.Hub, dispatch.Options{
		Node: treeNode, Deadline: 5 * time.Minute, Grace: -1, Total: 1 << 10, Log: slog.New(slog.DiscardHandler),
		Runtime:   func(parley.Agent) (parley.Runtime, error) { return actor{g, l}, nil },
		Prompt:    func(parley.RunContext) parley.Prompt { return parley.Prompt{} },
		Dir:       func(string) string { return "" },
		Files:     func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools:     func(parley.Agent) []parley.ToolDoc { return nil },
		Processes: nobodies{},
	})
	l.Start(l.ctx)
	l.dispatch.Start(l.ctx)
	g.mu.Lock()
	g.life = l
	g.mu.Unlock()
	l.callers.Go(func() { g.session(l) })
	l.callers.Go(func() { g.decides(l) })
}

// end kills the process: nothing that is not on disk by now gets there.
func (g *grove) end() {
	l := g.live()
	l.dead.Store(true)
	l.kill()
	l.dispatch.Stop()
	l.Stop()
	l.callers.Wait()
	if err := l.db.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// mortal is a store that writes nothing once its process is dead.
type mortal struct {
	storage.Store
	life *life
}

func (m mortal) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return m.Store.Update(ctx, func(tx storage.Tx) error {
		if m.life.dead.Load() {
			return errDead
		}
		return fn(tx)
	})
}

// nobodies are the processes of runs that have none.
type nobodies struct{}

func (nobodies) Add(int, string, string) func()           { return func() {} }
func (nobodies) Started(int) (int64, error)               { return 0, nil }
func (nobodies) Kill(context.Context, []parley.Run) error { return nil }

// actor plays the knots that wake an agent.
type actor struct {
	*grove
	life *life
}

func (actor) Check(context.Context, parley.Agent) error { return nil }
func (actor) Instant() bool                             { return true }

func (a actor) Run(ctx context.Context, job parley.Job) (parley.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life.ctx, cancel)()
	var text string
	for _, m := range job.Triggers {
		k, found := knotIn(m.Content.Text)
		if !found || m.From == parley.System {
			text += "I have read it. "
			continue
		}
		if k.Says {
			me := hub.Caller{Agent: job.Agent.ID, Source: "run", Run: job.Run.ID}
			_, _ = a.life.Post(ctx, me, parley.Draft{InReplyTo: m.ID, Content: parley.Content{Text: "I begin"}})
		}
		said, err := a.play(ctx, job.Workspace.(parley.Contacts), k, job.Run.Attempt)
		if err != nil {
			return parley.Result{}, err
		}
		text += said
	}
	return parley.Result{Text: text, Usage: parley.Usage{InputTokens: 1}}, nil
}

// play does what a knot says.
func (a actor) play(ctx context.Context, hub parley.Contacts, k knot, attempt int) (string, error) {
	for _, s := range k.Do {
		a.contact(a.life, s, func(c parley.Contact) (parley.Contacted, error) { return hub.Contact(ctx, c) })
	}
	linger(ctx, k.Slow)
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

// linger waits in the bubble's time.
func linger(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// contact makes a request and counts its outcome. A caller gets an outcome or dies with the hub.
func (g *grove) contact(l *life, s step, call func(parley.Contact) (parley.Contacted, error)) {
	g.calls.Add(1)
	told, err := call(parley.Contact{Pattern: s.How, Agent: s.Who, Message: s.Knot.text(), Wait: s.Wait})
	if l.dead.Load() {
		g.cut.Add(1)
		return
	}
	g.freed.Add(1)
	g.count(s.How, told.Outcome, err)
	switch {
	case parley.CodeOf(err) == parley.Internal:
		g.t.Errorf("a contact ended with %v", err)
	case s.How == parley.PatternAsk && told.Outcome == parley.ContactLate:
		g.late.Store(told.Message, true)
	case s.How == parley.PatternAsk: // a later attempt of the run has heard it itself
		g.late.Delete(told.Message)
	}
}

// count counts an outcome that a caller got.
func (g *grove) count(how parley.Pattern, o parley.ContactOutcome, err error) {
	what := fmt.Sprintf("%s %s", how, o)
	if err != nil {
		what = fmt.Sprintf("%s %s", how, parley.CodeOf(err))
		for _, word := range []string{"depth", "→", "offline", "failed to respond", "did not respond", "cancelled"} {
			if strings.Contains(err.Error(), word) {
				what = fmt.Sprintf("%s %s", how, word)
				break
			}
		}
	}
	n, _ := g.ends.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// decides plays the owner: it regularly lists pending approvals and approves most of them.
func (g *grove) decides(l *life) {
	for n := 0; l.ctx.Err() == nil; linger(l.ctx, 37*time.Second) {
		list, err := l.Approvals(l.ctx, owner, parley.ApprovalFilter{State: parley.ApprovalPending, Limit: 1000})
		if err != nil {
			continue
		}
		for _, a := range list {
			n++
			_, err := l.Decide(l.ctx, owner, a.ID, parley.Decision{Approve: n%4 > 0}) // it may be withdrawn meanwhile
			if parley.CodeOf(err) == parley.Internal && !l.dead.Load() {
				g.t.Errorf("a decision ended with %v", err)
			}
		}
	}
}

// session is the client of the attached agent. It takes one delivery after the other and follows its instructions.
func (g *grove) session(l *life) {
	me := hub.Caller{Agent: "sess", Source: "api"}
	for l.ctx.Err() == nil {
		taken, err := l.Take(l.ctx, me, parley.Take{Limit: 1, Wait: 20 * time.Second, Waking: true, Seen: true, Lease: 10 * time.Minute})
		if err != nil {
			linger(l.ctx, time.Second) // not there yet
			continue
		}
		for _, m := range taken.Messages {
			g.serve(l, me, taken.Lease, m)
		}
	}
}

// serve does what one message says, in the session.
func (g *grove) serve(l *life, me hub.Caller, lease string, m parley.Message) {
	k, found := knotIn(m.Content.Text)
	if !found || m.From == parley.System {
		if m.Task != "" { // it was given this, or something under it has ended: what is left to do is done
			_, _ = l.UpdateTask(l.ctx, me, m.Task, parley.TaskChange{Status: parley.TaskCompleted})
		}
		_, _ = l.Ack(l.ctx, me, lease, m.ID)
		return
	}
	for _, s := range k.Do {
		g.contact(l, s, func(c parley.Contact) (parley.Contacted, error) { return l.Contact(l.ctx, me, c) })
	}
	linger(l.ctx, min(k.Slow, 10*time.Second))
	// What has ended meanwhile is refused.
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

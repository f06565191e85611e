package crashtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	allTrees    = 5_000
	treesPerHub = 50
	activeTime  = 10 * time.Minute // in this time the trees of a hub begin, and accidents happen
	settleTime  = 4 * time.Hour    // then everything must have ended
)

var owner = hub.Caller{Agent: parley.Owner, Source: "cli"}

// TestNobodyWaitsForEver plays random trees of asks and delegations. Agents fail, hang, delegate, are slow and need approvals.
// Meanwhile the test cancels tasks and runs, reassigns tasks, stops, pauses, suspends and removes agents, and kills the hub. In
// the end every caller must have exactly one outcome, each task must have ended with one callback, and nothing may be open.
func TestNobodyWaitsForEver(t *testing.T) {
	t.Parallel()
	trees := allTrees / 10
	switch {
	case os.Getenv("PARLEY_CRASH_ROUNDS") != "":
		trees = allTrees
	case raced:
		trees = 2 * treesPerHub // the full number would take too long with the race detector
	}
	_, random := seededRounds(t, trees)
	for n := range trees / treesPerHub {
		seed := random.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				t.Logf("seed %d", seed)
				newTreeTest(t, home, seed).campaign()
			})
		})
	}
}

func newTreeTest(t *testing.T, home string, seed uint64) *treeTest {
	t.Helper()
	g := &treeTest{t: t, home: home, random: rand.New(rand.NewPCG(seed, 0)), repeated: map[string]int{}}
	g.startHub()
	for _, m := range members {
		profile := parley.Profile{Runtime: m.runtime, Concurrency: m.slots, InboxOverflow: parley.OverflowUnbounded}
		if _, err := g.current().AddAgent(t.Context(), owner, parley.NewAgent{ID: m.id, Profile: profile}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range approvalRules {
		if _, err := g.current().Permit(t.Context(), owner, p); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *treeTest) campaign() {
	var callers sync.WaitGroup
	maker := &treeMaker{Rand: g.random}
	for range treesPerHub {
		s, delay := maker.step(0), time.Duration(g.random.Int64N(int64(activeTime)))
		callers.Go(func() {
			time.Sleep(delay) // in the time of the synctest bubble
			l := g.current()
			g.contact(l, s, func(c parley.Contact) (parley.Contacted, error) { return l.Contact(l.ctx, owner, c) })
		})
	}
	began := time.Now()
	for removed := false; time.Since(began) < activeTime; {
		time.Sleep(time.Duration(g.random.Int64N(int64(40 * time.Second))))
		g.accident()
		if l := g.current(); !removed && time.Since(began) > activeTime/2 {
			removed = l.RemoveAgent(l.ctx, owner, removedAgent) == nil
		}
	}
	g.resumeAll()
	callers.Wait()
	g.settle()
	g.checkOutcomes()
	g.killHub()
	if calls := g.calls.Load(); calls != g.returned.Load()+g.interrupted.Load() {
		g.t.Errorf("%d calls, %d returned and %d died", calls, g.returned.Load(), g.interrupted.Load())
	}
	g.t.Logf("%d contacts, %d died with their hub; %d asks were parked", g.calls.Load(), g.interrupted.Load(), g.parked.Load())
	g.outcomes.Range(func(outcome, n any) bool {
		g.t.Logf("%s: %d", outcome, n.(*atomic.Int64).Load())
		return true
	})
}

// accident does one random thing: it kills and restarts the hub, cancels, repeats or reassigns work, or halts or resumes agents.
func (g *treeTest) accident() {
	l, agent := g.current(), members[g.random.IntN(len(members))].id
	command := func(action parley.Action) {
		_, _ = l.Command(l.ctx, owner, agent, parley.Command{Action: action, Parameters: parley.CommandParameters{TimeoutMS: 1000}})
	}
	switch g.random.IntN(15) {
	case 0:
		g.killHub()
		g.startHub()
	case 1, 2, 3:
		g.cancelTask(l)
	case 4, 5, 6:
		g.cancelRun(l)
	case 7:
		command(parley.ActionStop)
	case 8:
		command(parley.ActionPause)
	case 9:
		_, _ = l.Sleep(l.ctx, owner, agent, time.Now().Add(time.Minute))
	case 10, 11:
		g.repeatTask(l, parley.TaskFilter{Status: []parley.TaskState{parley.TaskFailed, parley.TaskCancelled}, Limit: 100}, func(id string) error {
			_, err := l.RetryTask(l.ctx, owner, id)
			return err
		})
	case 12, 13:
		g.repeatTask(l, parley.TaskFilter{Open: true, Limit: 100}, func(id string) error {
			_, err := l.ReassignTask(l.ctx, owner, id, agent)
			return err
		})
	default:
		g.resumeAll()
	}
}

// repeatTask repeats a random task of those that match the filter, and counts the repetition.
func (g *treeTest) repeatTask(l *hubProcess, filter parley.TaskFilter, repeat func(id string) error) {
	list, err := l.Tasks(l.ctx, owner, filter)
	if err != nil {
		g.t.Fatal(err)
	}
	if len(list) == 0 {
		return
	}
	id := list[g.random.IntN(len(list))].ID
	if repeat(id) == nil {
		g.repeated[id]++
	}
}

func (g *treeTest) cancelTask(l *hubProcess) {
	open, err := l.Tasks(l.ctx, owner, parley.TaskFilter{Open: true, Limit: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	if len(open) > 0 {
		_, _ = l.CancelTask(l.ctx, owner, open[g.random.IntN(len(open))].ID, "an accident")
	}
}

func (g *treeTest) cancelRun(l *hubProcess) {
	live, err := l.Runs(l.ctx, owner, parley.RunFilter{Live: true, Limit: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	if len(live) > 0 {
		_, _ = l.CancelRun(l.ctx, owner, live[g.random.IntN(len(live))].ID, "an accident")
	}
}

// resumeAll resumes all agents that the test has halted.
func (g *treeTest) resumeAll() {
	l := g.current()
	for _, m := range members {
		for _, action := range []parley.Action{parley.ActionStart, parley.ActionResume} {
			_, err := l.Command(l.ctx, owner, m.id, parley.Command{Action: action})
			if err != nil && m.id != removedAgent {
				g.t.Fatal(err)
			}
		}
	}
}

// settle waits until nothing is open. It fails the test after settleTime.
func (g *treeTest) settle() {
	for end := time.Now().Add(settleTime); ; time.Sleep(10 * time.Second) {
		open := g.open()
		if len(open) == 0 {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("still open:\n%s", strings.Join(open, "\n"))
		}
	}
}

// open describes the runs, tasks, deliveries, asks and approvals that have not ended.
func (g *treeTest) open() (open []string) {
	g.view(func(tx storage.Tx) error {
		runs, err := tx.Runs().Live("")
		for _, r := range runs {
			open = append(open, fmt.Sprintf("run %s of %s: %s, cancel %q, task %s", r.ID, r.Agent, r.State, r.Cancel, r.Task))
		}
		tasks, taskErr := tx.Tasks().List(parley.TaskFilter{Open: true, Limit: 1000}, "")
		for _, t := range tasks {
			open = append(open, fmt.Sprintf("%s of %s for %s: %s, in %s", t.ID, t.Assignee, t.Requester, t.Status, t.Parent))
		}
		inboxes, inboxErr := tx.Queue().Inboxes()
		for _, m := range members {
			if n := inboxes[m.id].Waking; n > 0 {
				open = append(open, fmt.Sprintf("inbox of %s: %d", m.id, n))
			}
			asked, askErr := tx.Queue().CountAsks(m.id)
			if err = errors.Join(err, askErr); asked > 0 {
				open = append(open, fmt.Sprintf("asks to %s: %d", m.id, asked))
			}
			parked, parkErr := tx.Waits().Parked(m.id)
			err = errors.Join(err, parkErr)
			for _, w := range parked {
				open = append(open, fmt.Sprintf("ask %s of %s to %s: %s, parked as %s", w.Message, w.Waiter, m.id, w.State, w.AnswerTask))
			}
			held, heldErr := tx.Approvals().Pending(m.id)
			err = errors.Join(err, heldErr)
			for _, a := range held {
				open = append(open, fmt.Sprintf("approval %s of %s: %s, in %s", a.ID, a.Agent, a.State, a.Task))
			}
		}
		return errors.Join(err, taskErr, inboxErr)
	})
	return open
}

func (g *treeTest) view(fn func(storage.Tx) error) {
	g.t.Helper()
	if err := g.current().db.View(g.t.Context(), fn); err != nil {
		g.t.Fatal(err)
	}
}

// callbacks holds all requests, and the callbacks for late answers and for tasks.
type callbacks struct {
	requests []parley.Message
	late     map[string]bool // callbacks of asks, by message id; checkAsk removes each callback that it expects
	tasks    map[string]int  // number of callbacks of each task
}

// checkOutcomes checks the outcome of every request, and how many callbacks its caller got.
func (g *treeTest) checkOutcomes() {
	g.view(func(tx storage.Tx) error {
		found, err := readCallbacks(tx)
		for _, m := range found.requests {
			switch {
			case err != nil:
				return err
			case m.Type == parley.TypeRequest:
				err = g.checkAsk(tx, m, found)
			case m.Type == parley.TypeTask:
				err = g.checkTask(tx, m, found)
			}
		}
		if len(found.late) > 0 {
			g.t.Errorf("callbacks of no ask: %v", found.late)
		}
		return err
	})
}

var taskName = regexp.MustCompile(`task-\d+`)

func readCallbacks(tx storage.Tx) (callbacks, error) {
	found := callbacks{late: map[string]bool{}, tasks: map[string]int{}}
	for after := int64(0); ; {
		page, err := tx.Messages().Scan(after, 500)
		if err != nil || len(page) == 0 {
			return found, err
		}
		for _, m := range page {
			switch m.Source {
			case "agent_contact":
				found.requests = append(found.requests, m)
			case "ask_result":
				found.late[m.ID] = true
			case "delegation_result":
				found.tasks[taskName.FindString(m.Content.Text)]++
			}
		}
		after = page[len(page)-1].Seq
	}
}

func (g *treeTest) checkAsk(tx storage.Tx, m parley.Message, found callbacks) error {
	w, err := tx.Waits().Ask(m.ID)
	if err != nil {
		return err
	}
	if w.AnswerTask != "" {
		g.parked.Add(1)
	}
	if err := g.checkAnswer(tx, w); err != nil {
		return err
	}
	_, promised := g.late.Load(m.ID)
	promised = promised && !cancelled(tx, w.Run)
	if ended := w.State.Ended() || w.State == parley.WaitAbandoned; !ended || promised && w.Callback == "" {
		g.t.Errorf("the ask %s of %s to %s is %s; promised %v, callback %q", m.ID, m.From, m.To, w.State, promised, w.Callback)
	}
	if w.Callback != "" && !found.late[w.Callback] {
		g.t.Errorf("the ask %s has the callback %s, which is not there, or another's", m.ID, w.Callback)
	}
	delete(found.late, w.Callback)
	return nil
}

// checkAnswer requires that the caller got the answer only through the ask, and that a parked ask has ended like its task.
func (g *treeTest) checkAnswer(tx storage.Tx, w parley.Wait) error {
	if w.Answer != "" {
		if d, err := tx.Deliveries().Get(w.Answer, w.Waiter); !errors.Is(err, parley.ErrNotFound) {
			g.t.Errorf("the answer %s to the ask %s was also delivered to %s: %s, %v", w.Answer, w.Message, w.Waiter, d.State, err)
		}
	}
	if w.AnswerTask == "" {
		return nil
	}
	t, err := tx.Tasks().Get(w.AnswerTask)
	if again := g.repeated[t.ID] > 0; err == nil && (!w.State.Ended() || !again && w.Failure == nil && t.Status != parley.TaskCompleted) {
		g.t.Errorf("the ask %s of %s to %s is %s, and its task %s is %s", w.Message, w.Waiter, w.Target, w.State, t.ID, t.Status)
	}
	return err
}

// cancelled reports whether a run was cancelled. The hub does not deliver answers to the asks of such a run.
func cancelled(tx storage.Tx, run string) bool {
	r, err := tx.Runs().Get(run)
	return err == nil && r.State == parley.RunCancelled && r.Cancel != ""
}

func (g *treeTest) checkTask(tx storage.Tx, m parley.Message, found callbacks) error {
	task, err := tx.Tasks().Get(m.Task)
	if err != nil {
		return err
	}
	noCallback := task.Assignee == task.Requester && task.Parent == "" // the requester does the task itself, so nobody else waits
	noCallback = noCallback || task.Source == parley.TaskFromAsk       // the asker gets the answer through its ask
	if n := found.tasks[task.ID]; !task.Status.Ended() || n > 1+g.repeated[task.ID] || !noCallback && (n < 1 || task.Callback == "") {
		g.t.Errorf("%s of %s for %s is %s; %d callbacks", task.ID, task.Assignee, task.Requester, task.Status, n)
	}
	if task.Parent == "" {
		return nil
	}
	parent, err := tx.Tasks().Get(task.Parent)
	if err == nil && parent.Status.Ended() && parent.EndedAt.Before(*task.EndedAt) {
		g.t.Errorf("%s ended before %s, which is under it", parent.ID, task.ID)
	}
	return err
}

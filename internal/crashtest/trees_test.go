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
	allTrees   = 5_000
	groveTrees = 50
	season     = 10 * time.Minute // in which the trees of a grove are begun, and accidents happen
	winter     = 4 * time.Hour    // by when everything must have come to its end
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
		trees = 2 * groveTrees // the others without the detector
	}
	_, random := campaign(t, trees)
	for n := range trees / groveTrees {
		seed := random.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				t.Logf("seed %d", seed)
				newGrove(t, home, seed).campaign()
			})
		})
	}
}

func newGrove(t *testing.T, home string, seed uint64) *grove {
	t.Helper()
	g := &grove{t: t, home: home, random: rand.New(rand.NewPCG(seed, 0)), again: map[string]int{}}
	g.begin()
	for _, m := range crew {
		profile := parley.Profile{Runtime: m.runtime, Concurrency: m.slots, InboxOverflow: parley.OverflowUnbounded}
		if _, err := g.live().AddAgent(t.Context(), owner, parley.NewAgent{ID: m.id, Profile: profile}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range watched {
		if _, err := g.live().Permit(t.Context(), owner, p); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *grove) campaign() {
	var callers sync.WaitGroup
	grow := &grower{Rand: g.random}
	for range groveTrees {
		s, begins := grow.step(0), time.Duration(g.random.Int64N(int64(season)))
		callers.Go(func() {
			time.Sleep(begins) // in the bubble
			l := g.live()
			g.contact(l, s, func(c parley.Contact) (parley.Contacted, error) { return l.Contact(l.ctx, owner, c) })
		})
	}
	began := time.Now()
	for left := false; time.Since(began) < season; {
		time.Sleep(time.Duration(g.random.Int64N(int64(40 * time.Second))))
		g.accident()
		if l := g.live(); !left && time.Since(began) > season/2 {
			left = l.RemoveAgent(l.ctx, owner, leaver) == nil
		}
	}
	g.recover()
	callers.Wait()
	g.settle()
	g.judge()
	g.end()
	if calls := g.calls.Load(); calls != g.freed.Load()+g.cut.Load() {
		g.t.Errorf("%d calls, %d returned and %d died", calls, g.freed.Load(), g.cut.Load())
	}
	g.t.Logf("%d contacts, %d died with their hub; %d asks were parked", g.calls.Load(), g.cut.Load(), g.parked.Load())
	g.ends.Range(func(what, n any) bool {
		g.t.Logf("%s: %d", what, n.(*atomic.Int64).Load())
		return true
	})
}

// accident does something to somebody.
func (g *grove) accident() {
	l, who := g.live(), crew[g.random.IntN(len(crew))].id
	do := func(action parley.Action) {
		_, _ = l.Command(l.ctx, owner, who, parley.Command{Action: action, Parameters: parley.CommandParameters{TimeoutMS: 1000}})
	}
	switch g.random.IntN(15) {
	case 0:
		g.end()
		g.begin()
	case 1, 2, 3:
		g.cancelTask(l)
	case 4, 5, 6:
		g.cancelRun(l)
	case 7:
		do(parley.ActionStop)
	case 8:
		do(parley.ActionPause)
	case 9:
		_, _ = l.Sleep(l.ctx, owner, who, time.Now().Add(time.Minute))
	case 10, 11:
		g.giveAgain(l, parley.TaskFilter{Status: []parley.TaskState{parley.TaskFailed, parley.TaskCancelled}, Limit: 100}, func(id string) error {
			_, err := l.RetryTask(l.ctx, owner, id)
			return err
		})
	case 12, 13:
		g.giveAgain(l, parley.TaskFilter{Open: true, Limit: 100}, func(id string) error {
			_, err := l.ReassignTask(l.ctx, owner, id, who)
			return err
		})
	default:
		g.recover()
	}
}

// giveAgain has one of some tasks done again.
func (g *grove) giveAgain(l *life, those parley.TaskFilter, do func(id string) error) {
	list, err := l.Tasks(l.ctx, owner, those)
	if err != nil {
		g.t.Fatal(err)
	}
	if len(list) == 0 {
		return
	}
	one := list[g.random.IntN(len(list))].ID
	if do(one) == nil {
		g.again[one]++
	}
}

func (g *grove) cancelTask(l *life) {
	open, err := l.Tasks(l.ctx, owner, parley.TaskFilter{Open: true, Limit: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	if len(open) > 0 {
		_, _ = l.CancelTask(l.ctx, owner, open[g.random.IntN(len(open))].ID, "an accident")
	}
}

func (g *grove) cancelRun(l *life) {
	live, err := l.Runs(l.ctx, owner, parley.RunFilter{Live: true, Limit: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	if len(live) > 0 {
		_, _ = l.CancelRun(l.ctx, owner, live[g.random.IntN(len(live))].ID, "an accident")
	}
}

// recover resumes all agents that the test has halted.
func (g *grove) recover() {
	l := g.live()
	for _, m := range crew {
		for _, action := range []parley.Action{parley.ActionStart, parley.ActionResume} {
			_, err := l.Command(l.ctx, owner, m.id, parley.Command{Action: action})
			if err != nil && m.id != leaver {
				g.t.Fatal(err)
			}
		}
	}
}

// settle waits until nothing goes on any more.
func (g *grove) settle() {
	for end := time.Now().Add(winter); ; time.Sleep(10 * time.Second) {
		open := g.open()
		if len(open) == 0 {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("still open:\n%s", strings.Join(open, "\n"))
		}
	}
}

// open returns the requests that have not ended.
func (g *grove) open() (open []string) {
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
		for _, m := range crew {
			if n := inboxes[m.id].Waking; n > 0 {
				open = append(open, fmt.Sprintf("inbox of %s: %d", m.id, n))
			}
			asked, askErr := tx.Queue().Asked(m.id)
			if err = errors.Join(err, askErr); asked > 0 {
				open = append(open, fmt.Sprintf("asks to %s: %d", m.id, asked))
			}
			parked, parkErr := tx.Waits().Parked(m.id)
			err = errors.Join(err, parkErr)
			for _, w := range parked {
				open = append(open, fmt.Sprintf("ask %s of %s to %s: %s, parked as %s", w.Message, w.Waiter, m.id, w.State, w.Work))
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

func (g *grove) view(fn func(storage.Tx) error) {
	g.t.Helper()
	if err := g.live().db.View(g.t.Context(), fn); err != nil {
		g.t.Fatal(err)
	}
}

// ledger counts the callbacks for late answers and for tasks.
type ledger struct {
	requests []parley.Message
	late     map[string]bool // the callbacks of asks that nobody has claimed yet
	tasks    map[string]int  // callbacks of each task
}

// judge checks the outcome of every request, and how often its caller was told.
func (g *grove) judge() {
	g.view(func(tx storage.Tx) error {
		book, err := readLedger(tx)
		for _, m := range book.requests {
			switch {
			case err != nil:
				return err
			case m.Type == parley.TypeRequest:
				err = g.judgeAsk(tx, m, book)
			case m.Type == parley.TypeTask:
				err = g.judgeTask(tx, m, book)
			}
		}
		if len(book.late) > 0 {
			g.t.Errorf("callbacks of no ask: %v", book.late)
		}
		return err
	})
}

var taskName = regexp.MustCompile(`task-\d+`)

func readLedger(tx storage.Tx) (ledger, error) {
	book := ledger{late: map[string]bool{}, tasks: map[string]int{}}
	for after := int64(0); ; {
		page, err := tx.Messages().Scan(after, 500)
		if err != nil || len(page) == 0 {
			return book, err
		}
		for _, m := range page {
			switch m.Source {
			case "agent_contact":
				book.requests = append(book.requests, m)
			case "ask_result":
				book.late[m.ID] = true
			case "delegation_result":
				book.tasks[taskName.FindString(m.Content.Text)]++
			}
		}
		after = page[len(page)-1].Seq
	}
}

func (g *grove) judgeAsk(tx storage.Tx, m parley.Message, book ledger) error {
	w, err := tx.Waits().Ask(m.ID)
	if err != nil {
		return err
	}
	if w.Work != "" {
		g.parked.Add(1)
	}
	if err := g.judgeAnswer(tx, w); err != nil {
		return err
	}
	_, promised := g.late.Load(m.ID)
	promised = promised && !cancelled(tx, w.Run)
	if over := w.State.Ended() || w.State == parley.WaitAbandoned; !over || promised && w.Callback == "" {
		g.t.Errorf("the ask %s of %s to %s is %s; promised %v, callback %q", m.ID, m.From, m.To, w.State, promised, w.Callback)
	}
	if w.Callback != "" && !book.late[w.Callback] {
		g.t.Errorf("the ask %s has the callback %s, which is not there, or another's", m.ID, w.Callback)
	}
	delete(book.late, w.Callback)
	return nil
}

// judgeAnswer requires that the caller got the answer only through the ask, and that a parked ask has ended like its task.
func (g *grove) judgeAnswer(tx storage.Tx, w parley.Wait) error {
	if w.Answer != "" {
		if d, err := tx.Deliveries().Get(w.Answer, w.Waiter); !errors.Is(err, parley.ErrNotFound) {
			g.t.Errorf("the answer %s to the ask %s was also delivered to %s: %s, %v", w.Answer, w.Message, w.Waiter, d.State, err)
		}
	}
	if w.Work == "" {
		return nil
	}
	t, err := tx.Tasks().Get(w.Work)
	if again := g.again[t.ID] > 0; err == nil && (!w.State.Ended() || !again && w.Failure == nil && t.Status != parley.TaskCompleted) {
		g.t.Errorf("the ask %s of %s to %s is %s, and its task %s is %s", w.Message, w.Waiter, w.Target, w.State, t.ID, t.Status)
	}
	return err
}

// cancelled reports whether a run was cancelled: then the answers to its asks are not delivered.
func cancelled(tx storage.Tx, run string) bool {
	r, err := tx.Runs().Get(run)
	return err == nil && r.State == parley.RunCancelled && r.Cancel != ""
}

func (g *grove) judgeTask(tx storage.Tx, m parley.Message, book ledger) error {
	task, err := tx.Tasks().Get(m.Task)
	if err != nil {
		return err
	}
	own := task.Assignee == task.Requester && task.Parent == "" // given to who asked for it: nobody else waits
	own = own || task.Source == parley.TaskFromAsk              // the asker gets the answer by its ask
	if n := book.tasks[task.ID]; !task.Status.Ended() || n > 1+g.again[task.ID] || !own && (n < 1 || task.Callback == "") {
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

package tasktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/screentest"
)

// fakeHub is a hub with the state that a test sets.
type fakeHub struct {
	mu       sync.Mutex
	snapshot Snapshot
	away     error
	changed  chan struct{}
	refusal  chan error
}

func newFakeHub(tasks ...parley.TaskView) *fakeHub {
	return &fakeHub{
		snapshot: Snapshot{At: moment, Names: names, Tasks: tasks}, changed: make(chan struct{}), refusal: make(chan error),
	}
}

// report changes the hub and reports that to its followers.
func (h *fakeHub) report(change func()) {
	h.mu.Lock()
	change()
	h.mu.Unlock()
	h.changed <- struct{}{}
}

func (h *fakeHub) Load(context.Context) (Snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.snapshot
	p.Tasks = append([]parley.TaskView(nil), p.Tasks...)
	return p, h.away
}

func (h *fakeHub) Follow(ctx context.Context, report func()) error {
	for {
		select {
		case <-h.changed:
			report()
		case err := <-h.refusal:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// ended is how a watch has ended.
type ended struct {
	snapshot Snapshot
	err      error
}

// watch shows a hub on a terminal. The channel returns how that ended.
func watch(t *testing.T, h *fakeHub, columns, rows int) (*screentest.Terminal, <-chan ended) {
	t.Helper()
	term, tty := screentest.Open(t, columns, rows)
	done := make(chan ended, 1)
	go func() {
		snapshot, err := Watch(t.Context(), h, Options{Zone: time.UTC}, tty, tty, []string{"TERM=xterm-256color"})
		done <- ended{snapshot, err}
		_ = tty.Close()
	}()
	return term, done
}

func report() *fakeHub {
	return newFakeHub(
		view("task-100", "", "Prepare Q4 report", "coordinator", parley.TaskActive),
		view("task-101", "task-100", "Draft blog post", "writer", parley.TaskActive),
	)
}

func TestATreeOnATerminalUntilItsEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/parley-hub/parley/internal/screentest.(*Terminal).show"))
	h := report()
	term, done := watch(t, h, 100, 10)
	term.Await(`task-100: "Prepare Q4 report" (CoordinatorBot) — ACTIVE`, `  └── task-101: "Draft blog post" (WriterBot) — ACTIVE`, "q quits")
	h.report(func() { h.snapshot.Tasks[1].Progress = &parley.TaskProgress{Fraction: of(0.5), Message: "half of it"} })
	term.Await("(50 %: half of it)")
	h.report(func() { h.away = errors.New("away") })
	term.Await("connection lost, retrying")
	h.report(func() { h.away = nil })
	term.Until("the hub again", func(screen string) bool { return !strings.Contains(screen, "connection lost") })
	h.report(func() {
		h.snapshot.Tasks = append(h.snapshot.Tasks, view("task-102", "task-100", "Pull revenue data", "data", parley.TaskActive))
	})
	term.Await("task-102")
	h.report(func() {
		for i := range h.snapshot.Tasks {
			h.snapshot.Tasks[i].Status = parley.TaskCompleted
		}
	})
	if got := <-done; got.err != nil || !got.snapshot.Ended() || len(got.snapshot.Tasks) != 3 {
		t.Errorf("ends with %v", got)
	}
}

func TestLeavingATree(t *testing.T) {
	for _, key := range []string{"q", "\x03"} {
		term, done := watch(t, report(), 60, 10)
		term.Await("task-101")
		term.Type(key)
		if got := <-done; got.err != nil {
			t.Errorf("after %q: %v", key, got.err)
		}
	}
}

func TestATreeThatIsHigherThanTheScreen(t *testing.T) {
	h := newFakeHub(view("task-1", "", "All of it", "coordinator", parley.TaskActive))
	for i := range 20 {
		h.snapshot.Tasks = append(h.snapshot.Tasks, view(fmt.Sprintf("task-%d", i+2), "task-1", "A part", "writer", parley.TaskActive))
	}
	term, done := watch(t, h, 60, 6)
	term.Await("1–5 of 21 tasks", "task-5")
	term.Type("j")
	term.Await("2–6 of 21 tasks", "task-6")
	term.Type("G")
	term.Await("17–21 of 21 tasks", "task-21")
	term.Type("k")
	term.Await("16–20 of 21 tasks")
	term.Type("g")
	term.Await("1–5 of 21 tasks")
	term.Type("q")
	<-done
}

func TestAWatchThatIsRefused(t *testing.T) {
	refused := parley.Errorf(parley.NotPermitted, "the token was revoked").Because(parley.Unauthenticated)
	h := report()
	term, done := watch(t, h, 60, 10)
	term.Await("task-101")
	h.refusal <- refused
	if got := <-done; !errors.Is(got.err, refused) {
		t.Errorf("ends with %v, want %v", got.err, refused)
	}
	h.away = refused
	if _, err := Watch(t.Context(), h, Options{Zone: time.UTC}, nil, nil, nil); !errors.Is(err, refused) {
		t.Errorf("begins with %v, want %v", err, refused)
	}
}

// tell runs Tell; what it writes comes line by line.
func tell(ctx context.Context, h *fakeHub) (lines <-chan string, done <-chan error) {
	out, over := make(chan string), make(chan error, 1)
	go func() {
		over <- PrintChanges(ctx, h, Options{Zone: time.UTC}, func(fresh []Line) error {
			for _, line := range fresh {
				out <- line.String()
			}
			return nil
		})
		close(out)
	}()
	return out, over
}

func TestChangesArePrinted(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	h := report()
	lines, done := tell(t.Context(), h)
	next := func(want string) {
		t.Helper()
		if got := <-lines; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	next(`task-100: "Prepare Q4 report" (CoordinatorBot) — ACTIVE`)
	next(`  └── task-101: "Draft blog post" (WriterBot) — ACTIVE`)
	h.report(func() {
		h.snapshot.Tasks[1] = view("task-101", "task-100", "Draft blog post", "writer", parley.TaskCompleted)
	})
	next(`  └── task-101: "Draft blog post" (WriterBot) — COMPLETED ✓  (finished 10:37)`)
	h.report(func() { h.away = parley.Errorf(parley.Unavailable, "away") })
	h.report(func() { h.away = nil; h.snapshot.Tasks[0].Status = parley.TaskFailed })
	next(`task-100: "Prepare Q4 report" (CoordinatorBot) — FAILED ✗`)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// If the hub was unreachable when the view loaded the last change, the view loads again, although the hub reports nothing more.
func TestALookThatFailedIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := report()
		lines, done := tell(t.Context(), h)
		<-lines
		<-lines
		h.report(func() {
			h.away = parley.Errorf(parley.Unavailable, "restarting")
			h.snapshot.Tasks = h.snapshot.Tasks[:1]
		})
		synctest.Wait()
		h.mu.Lock()
		h.away, h.snapshot.Tasks[0].Status = nil, parley.TaskFailed
		h.mu.Unlock()
		if got, want := <-lines, `task-100: "Prepare Q4 report" (CoordinatorBot) — FAILED ✗`; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestPrintingEnds(t *testing.T) {
	refused := parley.Errorf(parley.NotPermitted, "the token was revoked")
	h := report()
	lines, done := tell(t.Context(), h)
	<-lines
	<-lines
	h.refusal <- refused
	if err := <-done; !errors.Is(err, refused) {
		t.Errorf("refused: %v, want %v", err, refused)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lines, done = tell(ctx, h)
	<-lines
	<-lines
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	h.away = parley.Errorf(parley.Unavailable, "away")
	if _, done := tell(t.Context(), h); !errors.Is(<-done, h.away) {
		t.Error("a hub that is away from the start is waited for")
	}
}

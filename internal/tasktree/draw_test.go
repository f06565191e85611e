package tasktree

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // draws the same values in every run of CI
)

var moment = time.Date(2030, 1, 2, 10, 40, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time {
	at := moment.Add(-d)
	return &at
}

func of[T any](v T) *T { return &v }

// view returns a task for a test.
func view(id, parent, title, assignee string, status parley.TaskState, more ...func(*parley.TaskView)) parley.TaskView {
	t := parley.TaskView{Task: parley.Task{
		ID: id, Parent: parent, Title: title, Assignee: assignee, Status: status, CreatedAt: moment.Add(-10 * time.Minute),
	}}
	if status.Ended() {
		t.EndedAt = ago(3 * time.Minute)
	}
	for _, change := range more {
		change(&t)
	}
	return t
}

func draw(p Snapshot, options Options) string {
	var text strings.Builder
	for _, line := range Draw(p, options) {
		text.WriteString(line.String() + "\n")
	}
	return text.String()
}

var names = map[string]string{"coordinator": "CoordinatorBot", "writer": "WriterBot", "data": "DataBot", "analyst": "AnalystBot"}

func TestTheTreeOfTheSpecification(t *testing.T) {
	p := Snapshot{At: moment, Names: names, Tasks: []parley.TaskView{
		view("task-100", "", "Prepare Q4 report", "coordinator", parley.TaskActive),
		view("task-101", "task-100", "Draft blog post", "writer", parley.TaskCompleted),
	}}
	want := `task-100: "Prepare Q4 report" (CoordinatorBot) — ACTIVE
  └── task-101: "Draft blog post" (WriterBot) — COMPLETED ✓  (finished 10:37)
`
	if got := draw(p, Options{Zone: time.UTC}); got != want {
		t.Errorf("drawn as\n%s\nwant\n%s", got, want)
	}
	if got := draw(p, Options{Zone: time.FixedZone("", 2*60*60)}); !strings.Contains(got, "(finished 12:37)") {
		t.Errorf("elsewhere it is drawn as\n%s", got)
	}
}

func TestEveryStateIsDrawn(t *testing.T) {
	for want, task := range map[string]parley.TaskView{
		"ACTIVE":                       view("t", "", "", "", parley.TaskActive),
		"ACTIVE  (40 %: Reading)":      view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Fraction: of(0.409), Message: "Reading"})),
		"ACTIVE  (40 %)":               view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Fraction: of(0.4)})),
		"ACTIVE  (3 of 7: Reading)":    view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Current: of(int64(3)), Total: of(int64(7)), Message: "Reading"})),
		"ACTIVE  (3)":                  view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Current: of(int64(3))})),
		"ACTIVE  (Reading)":            view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Message: "Reading"})),
		"ACTIVE  (blocked: no key, x)": view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Fraction: of(0.4), Blockers: []string{"no key", "x"}})),
		"ACTIVE  (Reading; awaiting approval a1)": view("t", "", "", "", parley.TaskActive, progress(parley.TaskProgress{Message: "Reading"}),
			func(t *parley.TaskView) { t.WaitsOn.Approval = "a1" }),
		"QUEUED":                              view("t", "", "", "", parley.TaskQueued),
		"QUEUED  (waits for task-9, task-12)": view("t", "", "", "", parley.TaskQueued, func(t *parley.TaskView) { t.WaitsOn.After = []string{"task-9", "task-12"} }),
		"QUEUED  (due when it wakes, 11:40)":  view("t", "", "", "sleeper", parley.TaskQueued),
		"COMPLETED ✓  (partial; finished 10:37)": view("t", "", "", "", parley.TaskCompleted,
			func(t *parley.TaskView) { t.Outcome = parley.OutcomePartial }),
		"COMPLETED ✓  (finished 2030-01-01 10:40)": view("t", "", "", "", parley.TaskCompleted, func(t *parley.TaskView) { t.EndedAt = ago(24 * time.Hour) }),
		"FAILED ✗  (the disk is full)": view("t", "", "", "", parley.TaskFailed,
			func(t *parley.TaskView) { t.Error = parley.Errorf(parley.DependencyFailed, "the disk is full") }),
		"CANCELLED": view("t", "", "", "", parley.TaskCancelled, func(t *parley.TaskView) { t.Error = parley.Errorf(parley.Unavailable, "cancelled") }),
		"CANCELLED  (it is off)": view("t", "", "", "", parley.TaskCancelled,
			func(t *parley.TaskView) { t.Error = parley.Errorf(parley.Unavailable, "cancelled: it is off") }),
	} {
		p := Snapshot{At: moment, Tasks: []parley.TaskView{task}, Sleeping: map[string]time.Time{"sleeper": moment.Add(time.Hour)}}
		if got, _ := strings.CutPrefix(draw(p, Options{Zone: time.UTC}), `t: "" (`+task.Assignee+`) — `); got != want+"\n" {
			t.Errorf("drawn as %q, want %q", got, want)
		}
	}
}

func progress(p parley.TaskProgress) func(*parley.TaskView) {
	return func(t *parley.TaskView) { t.Progress = &p }
}

func TestDeepTreesAndSeveral(t *testing.T) {
	p := Snapshot{At: moment, Names: names, Tasks: []parley.TaskView{
		view("task-7", "", "Another", "writer", parley.TaskQueued),
		view("task-11", "task-9", "Deeper", "data", parley.TaskActive),
		view("task-12", "task-11", "Deepest", "data", parley.TaskActive),
		view("task-10", "task-8", "Second", "data", parley.TaskActive),
		view("task-9", "task-8", "First", "analyst", parley.TaskActive),
		view("task-8", "task-1", "Of somebody else's", "writer", parley.TaskActive, func(t *parley.TaskView) { t.Cost = 0.5 }),
	}}
	want := `task-7: "Another" (WriterBot) — QUEUED  10m0s
task-8: "Of somebody else's" (WriterBot) — ACTIVE  10m0s, $0.50
  └── task-9: "First" (AnalystBot) — ACTIVE  10m0s
      └── task-11: "Deeper" (DataBot) — ACTIVE  10m0s
          └── task-12: "Deepest" (DataBot) — ACTIVE  10m0s
  └── task-10: "Second" (DataBot) — ACTIVE  10m0s
`
	if got := draw(p, Options{Zone: time.UTC, Long: true}); got != want {
		t.Errorf("drawn as\n%s\nwant\n%s", got, want)
	}
}

// TestTitlesGiveWay: on a narrow screen a title is cut, so that the state can be seen.
func TestTitlesGiveWay(t *testing.T) {
	p := Snapshot{At: moment, Names: names, Tasks: []parley.TaskView{
		view("task-1", "", "Prepare the report about the fourth quarter", "coordinator", parley.TaskActive),
		view("task-2", "task-1", "Draft", "writer", parley.TaskCompleted),
	}}
	want := `task-1: "Prepare the report about the…" (CoordinatorBot) — ACTIVE
  └── task-2: "Draft" (WriterBot) — COMPLETED ✓  (finished 10:37)
`
	if got := draw(p, Options{Zone: time.UTC, Width: 65}); got != want {
		t.Errorf("drawn as\n%s\nwant\n%s", got, want)
	}
	want = `task-1: "Prepare the…" (CoordinatorBot) — ACTIVE
  └── task-2: "Draft" (WriterBot) — COMPLETED ✓  (finished 10:37)
`
	if got := draw(p, Options{Zone: time.UTC, Width: 10}); got != want {
		t.Errorf("on hardly anything it is drawn as\n%s\nwant\n%s", got, want)
	}
}

// TestEachTaskIsDrawnOnOneLine: no title can draw a task that is not there.
func TestEachTaskIsDrawnOnOneLine(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		hostile := rapid.StringOf(rapid.SampledFrom([]rune("a\n\r\t\x1b[2J\u2028\u202e└─"))).Draw(r, "title")
		task := view("task-1", "", hostile, hostile, parley.TaskActive, progress(parley.TaskProgress{Message: hostile}))
		text := draw(Snapshot{At: moment, Tasks: []parley.TaskView{task}}, Options{Zone: time.UTC})
		if strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\x1b\r\u202e\u2028") {
			r.Errorf("drawn as %q", text)
		}
	})
}

func TestATreeEndsWithItsLastTask(t *testing.T) {
	p := Snapshot{Tasks: []parley.TaskView{view("task-1", "", "", "", parley.TaskFailed), view("task-2", "task-1", "", "", parley.TaskActive)}}
	if p.Ended() {
		t.Error("a tree with an active task has ended")
	}
	p.Tasks[1].Status = parley.TaskCancelled
	if !p.Ended() {
		t.Error("a tree of which everything has ended has not")
	}
}

package tasktree

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// Snapshot is the state of tasks at a moment.
type Snapshot struct {
	At       time.Time
	Tasks    []parley.TaskView    // of one tree or several, in any order
	Names    map[string]string    // of participants, by id
	Sleeping map[string]time.Time // end of the sleep of sleeping agents, by id
	Growing  bool                 // further trees may come
}

// Ended reports whether all tasks have ended and no further tree may come.
func (p Snapshot) Ended() bool {
	return !p.Growing && !slices.ContainsFunc(p.Tasks, func(t parley.TaskView) bool { return !t.Status.Ended() })
}

// Options says how to draw trees.
type Options struct {
	Zone  *time.Location
	Long  bool // also show how long each task took, and what it cost
	Width int  // columns of the screen, to which titles are cut; 0: unlimited
}

// Line is a task as it is drawn.
type Line struct {
	Task   parley.TaskView
	Branch string // the branches before the text
	Text   string
}

func (l Line) String() string { return l.Branch + l.Text }

// Draw draws each tree from its root down. Tasks on one level are in the order of their numbers.
func Draw(p Snapshot, options Options) []Line {
	d := drawing{p, options, map[string][]parley.TaskView{}}
	known := map[string]bool{}
	for _, t := range p.Tasks {
		known[t.ID] = true
	}
	for _, t := range p.Tasks {
		above := t.Parent
		if !known[above] {
			above = "" // the parent is not in the snapshot
		}
		d.children[above] = append(d.children[above], t)
	}
	return d.drawLevel(nil, "", 0)
}

// drawing is a snapshot while it is drawn.
type drawing struct {
	snapshot Snapshot
	options  Options
	children map[string][]parley.TaskView
}

func (d drawing) drawLevel(lines []Line, above string, depth int) []Line {
	tasks := d.children[above]
	slices.SortStableFunc(tasks, func(a, b parley.TaskView) int { return byNumber(a.ID, b.ID) })
	for _, t := range tasks {
		lines = append(lines, Line{t, branchText(depth), d.lineText(t, branchText(depth))})
		lines = d.drawLevel(lines, t.ID, depth+1)
	}
	return lines
}

// byNumber orders task-9 before task-10.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func branchText(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("    ", depth-1) + "  └── "
}

func (d drawing) lineText(t parley.TaskView, branch string) string {
	before, after := t.ID+`: "`, `" (`+d.name(t.Assignee)+") — "+stateText(t)
	if about := d.details(t); about != "" {
		after += "  (" + about + ")"
	}
	if d.options.Long {
		after += "  " + d.spentText(t)
	}
	before, after = plain.Line(before), plain.Line(after)
	return before + d.fit(plain.Line(t.Title), ansi.StringWidth(branch+before+after)) + after
}

// minTitle is the shortest width to which a title is cut.
const minTitle = 12

// fit cuts a title so that everything around it is visible.
func (d drawing) fit(title string, around int) string {
	if d.options.Width == 0 {
		return title
	}
	return ansi.Truncate(title, max(d.options.Width-around, minTitle), "…")
}

func (d drawing) name(id string) string {
	if name := d.snapshot.Names[id]; name != "" {
		return name
	}
	return id
}

func stateText(t parley.TaskView) string {
	word := strings.ToUpper(string(t.Status))
	switch t.Status {
	case parley.TaskCompleted:
		return word + " ✓"
	case parley.TaskFailed:
		return word + " ✗"
	default:
		return word
	}
}

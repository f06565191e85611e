package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var taskTreeTests = []test{
	{"random trees are listed as by a simple model", randomTrees},
}

// forest is a model of the tasks of three participants. Forests in the same store use consecutive task numbers.
type forest struct {
	agents []string
	c      parley.Conversation
	tasks  []parley.Task
}

func randomTrees(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	c := f.channel("general", "arya")
	last, round := 0, 0
	rapid.Check(f.T, func(t *rapid.T) {
		round++
		w := &forest{c: c}
		for _, name := range []string{"arya", "gendry", "sansa"} {
			w.agents = append(w.agents, fmt.Sprintf("%s-%d", name, round))
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "tasks") {
			last++
			w.addTask(t, i, last)
		}
		f.agents(w.agents...)
		f.tasks(w.tasks...)
		changes := w.change(t)
		f.update(func(tx storage.Tx) error { return forEach(changes, tx.Tasks().Put) })
		if err := f.store.View(context.Background(), w.compare); err != nil {
			t.Fatal(err)
		}
	})
}

// addTask adds the i-th task to the forest: a root, or a subtask of another task.
func (w *forest) addTask(t *rapid.T, i, num int) {
	made := newTask(num)
	made.Requester = rapid.SampledFrom(w.agents).Draw(t, "requester")
	made.OriginalRequester, made.Assignee = made.Requester, rapid.SampledFrom(w.agents).Draw(t, "assignee")
	if parent := rapid.IntRange(-1, i-1).Draw(t, "parent"); parent >= 0 {
		above := w.tasks[parent]
		made.Parent, made.Root, made.Depth, made.OriginalRequester = above.ID, above.Root, above.Depth+1, above.OriginalRequester
	}
	for _, other := range w.tasks {
		if rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
			made.DependsOn = append(made.DependsOn, other.ID)
		}
	}
	if rapid.Bool().Draw(t, "callback") {
		made.CallbackTo = w.c.ID
	}
	if due := rapid.IntRange(0, 3).Draw(t, "due"); due > 0 {
		made.Deadline = atPointer(due)
	}
	w.tasks = append(w.tasks, made)
}

// change gives some tasks another state or assignee.
func (w *forest) change(t *rapid.T) (changed []parley.Task) {
	for i := range w.tasks {
		task := &w.tasks[i]
		task.Status = rapid.SampledFrom([]parley.TaskState{
			parley.TaskQueued, parley.TaskActive, parley.TaskActive, parley.TaskCompleted, parley.TaskFailed, parley.TaskCancelled,
		}).Draw(t, "status")
		task.Assignee = rapid.SampledFrom(w.agents).Draw(t, "now assigned to")
		changed = append(changed, *task)
	}
	return changed
}

// tasksWhere returns the tasks for which a function returns true, by number.
func (w *forest) tasksWhere(which func(parley.Task) bool) []parley.Task {
	return slices.DeleteFunc(slices.Clone(w.tasks), func(t parley.Task) bool { return !which(t) })
}

func open(t parley.Task) bool { return !t.Status.Ended() }

// canRead reports whether the reader is the requester or assignee of a task or of a task above it.
func (w *forest) canRead(reader string, t parley.Task) bool {
	if t.Requester == reader || t.Assignee == reader {
		return true
	}
	above := w.tasksWhere(func(o parley.Task) bool { return o.ID == t.Parent })
	return len(above) > 0 && w.canRead(reader, above[0])
}

// isUnder reports whether a task has the given id or is below the task with that id.
func (w *forest) isUnder(t parley.Task, id string) bool {
	above := w.tasksWhere(func(o parley.Task) bool { return o.ID == t.Parent })
	return t.ID == id || len(above) > 0 && w.isUnder(above[0], id)
}

func (w *forest) compare(tx storage.Tx) error {
	var errs []error
	for _, t := range w.tasks {
		errs = append(errs, w.compareTask(tx, t))
	}
	awaited, err := tx.Tasks().CountAwaited()
	for _, agent := range w.agents {
		waits := w.tasksWhere(func(t parley.Task) bool { return open(t) && t.Requester == agent && t.CallbackTo != "" })
		errs = append(errs, requireEqual("awaited by", awaited[agent], len(waits), err), w.compareAgent(tx, agent, waits), w.compareLists(tx, agent))
	}
	return errors.Join(append(errs, w.compareDue(tx))...)
}

func (w *forest) compareTask(tx storage.Tx, t parley.Task) error {
	got, err := tx.Tasks().Get(t.ID)
	children, err1 := tx.Tasks().OpenChildren(t.ID)
	tree, err2 := tx.Tasks().Tree(t.ID)
	waiting, err3 := tx.Tasks().Dependants(t.ID)
	under, err4 := tx.Tasks().OpenUnder(t.ID)
	return errors.Join(
		requireEqual("the task", got, t, err),
		requireEqual("children", children, w.tasksWhere(func(o parley.Task) bool { return open(o) && o.Parent == t.ID }), err1),
		requireEqual("tree", tree, w.tasksWhere(func(o parley.Task) bool { return w.isUnder(o, t.ID) }), err2),
		requireEqual("dependants", waiting, w.tasksWhere(func(o parley.Task) bool { return open(o) && slices.Contains(o.DependsOn, t.ID) }), err3),
		requireEqual("open under", under, len(w.tasksWhere(func(o parley.Task) bool { return open(o) && o.Root == t.ID && o.ID != t.ID })), err4),
	)
}

func (w *forest) compareAgent(tx storage.Tx, agent string, waits []parley.Task) error {
	awaited, err := tx.Tasks().Awaited(agent, noLimit)
	assigned, err2 := tx.Tasks().AssignedTo(agent)
	return errors.Join(
		requireEqual("awaited", awaited, waits, err),
		requireEqual("assigned", assigned, w.tasksWhere(func(t parley.Task) bool { return open(t) && t.Assignee == agent }), err2),
	)
}

// compareLists compares pages of tasks for a reader, with several filters.
func (w *forest) compareLists(tx storage.Tx, reader string) error {
	filters := map[*parley.TaskFilter]func(parley.Task) bool{
		{}:                                   func(parley.Task) bool { return true },
		{Open: true}:                         open,
		{Roots: true}:                        func(t parley.Task) bool { return t.Parent == "" },
		{Assignee: w.agents[0]}:              func(t parley.Task) bool { return t.Assignee == w.agents[0] },
		{Requester: w.agents[1], Open: true}: func(t parley.Task) bool { return t.Requester == w.agents[1] && open(t) },
		{Status: []parley.TaskState{parley.TaskFailed, parley.TaskQueued}}: func(t parley.Task) bool {
			return t.Status == parley.TaskFailed || t.Status == parley.TaskQueued
		},
	}
	var errs []error
	for f, which := range filters {
		rest := w.tasksWhere(func(t parley.Task) bool { return w.canRead(reader, t) && which(t) })
		slices.Reverse(rest)
		f.Limit = 3
		for more := true; more; {
			got, err := tx.Tasks().List(*f, reader)
			n := min(3, len(rest))
			errs = append(errs, requireEqual(fmt.Sprintf("list %+v", *f), got, rest[:n], err))
			if more = n > 0; more {
				f.Before, rest = rest[n-1].ID, rest[n:]
			}
		}
	}
	return errors.Join(errs...)
}

// compareDue compares the due tasks of this forest.
func (w *forest) compareDue(tx storage.Tx) error {
	var errs []error
	for now := range 4 {
		due, err := tx.Tasks().Due(at(now), noLimit)
		inOrder := slices.IsSortedFunc(due, func(a, b parley.Task) int { return a.Deadline.Compare(*b.Deadline) })
		some, err2 := tx.Tasks().Due(at(now), 2)
		due = slices.DeleteFunc(due, func(t parley.Task) bool { return !slices.Contains(w.agents, t.Requester) })
		slices.SortFunc(due, func(a, b parley.Task) int { return w.place(a) - w.place(b) })
		want := w.tasksWhere(func(t parley.Task) bool { return open(t) && t.Deadline != nil && !t.Deadline.After(at(now)) })
		errs = append(errs, requireEqual("due", due, want, err), requireEqual("in order", inOrder, true, err), requireEqual("up to the limit", len(some) <= 2, true, err2))
	}
	return errors.Join(errs...)
}

func (w *forest) place(t parley.Task) int {
	return slices.IndexFunc(w.tasks, func(o parley.Task) bool { return o.ID == t.ID })
}

package tasks

import (
	"cmp"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// viewer shows tasks to the caller, and caches their subtrees.
type viewer struct {
	*unit.Unit
	subtrees map[string]subtree // by the id of each task in them
}

// NewViewer returns a viewer for the caller of a unit.
func NewViewer(u *unit.Unit) *viewer { return &viewer{u, map[string]subtree{}} }

// subtreeOf returns the subtree with a task, from the cache if it is there.
func (v *viewer) subtreeOf(id string) (subtree, error) {
	if g, known := v.subtrees[id]; known {
		return g, nil
	}
	g, err := FindSubtree(v.Unit, id)
	if err == nil {
		g.spent, err = v.Tasks().Spent(id)
	}
	for _, t := range g.Under(id) {
		v.subtrees[t.ID] = g
	}
	v.subtrees[id] = g
	return g, err
}

// View returns a task as the caller sees it.
func (v *viewer) View(t parley.Task) (parley.TaskView, error) {
	g, err := v.subtreeOf(t.ID)
	if err != nil {
		return parley.TaskView{}, err
	}
	view := parley.TaskView{Usage: g.used(t.ID), Elapsed: v.Now.Sub(t.CreatedAt)}
	if t.EndedAt != nil {
		view.Elapsed = t.EndedAt.Sub(t.CreatedAt)
	}
	for _, sub := range g.children[t.ID] {
		view.Subtasks = append(view.Subtasks, sub.ID)
	}
	if !t.Status.Ended() {
		if view.WaitsOn, err = WaitsOn(v.Unit, t); err != nil {
			return view, err
		}
	}
	view.Task, err = hideParent(v.Unit, t)
	return view, err
}

// hideParent removes the parent of a task if the caller may not see it, and the callback if the caller is not the requester.
func hideParent(u *unit.Unit, t parley.Task) (parley.Task, error) {
	if u.SeesAll() {
		return t, nil
	}
	if t.Requester != u.Me.ID {
		t.CallbackTo, t.Callback = "", ""
	}
	if t.Parent == "" {
		return t, nil
	}
	parent, err := u.Tasks().Get(t.Parent)
	if err != nil {
		return t, err
	}
	if sees, err := SeesTask(u, parent); err != nil || sees {
		return t, err
	}
	t.Parent, t.Root, t.Depth = "", t.ID, 0
	return t, nil
}

// WaitsOn returns what an open task waits for: subtasks, an approval, and tasks it depends on.
func WaitsOn(u *unit.Unit, t parley.Task) (w parley.WaitsOn, err error) {
	children, err := u.Tasks().OpenChildren(t.ID)
	if err != nil {
		return w, err
	}
	for _, sub := range children {
		w.Subtasks = append(w.Subtasks, sub.ID)
	}
	pending, err := u.Approvals().InTask(t.ID)
	if err != nil {
		return w, err
	}
	if len(pending) > 0 {
		w.Approval, w.Number = pending[0].ID, pending[0].Number
	}
	needed, err := u.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		if n.Status != parley.TaskCompleted {
			w.After = append(w.After, n.ID)
		}
	}
	return w, err
}

// ViewAll returns tasks as the caller sees them.
func ViewAll(u *unit.Unit, list []parley.Task) ([]parley.TaskView, error) {
	v, views := NewViewer(u), make([]parley.TaskView, 0, len(list))
	// Tasks nearer to a root come first, because their subtrees contain other tasks of the list.
	for _, t := range slices.SortedFunc(slices.Values(list), func(a, b parley.Task) int { return cmp.Compare(a.Depth, b.Depth) }) {
		if _, err := v.subtreeOf(t.ID); err != nil {
			return nil, err
		}
	}
	for _, t := range list {
		view, err := v.View(t)
		if err != nil {
			return nil, err
		}
		views = append(views, view)
	}
	return views, nil
}

package hub

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// taskKey is how a task is stored that somebody has called by its number, or in capitals.
func taskKey(ref string) string {
	key := strings.ToLower(strings.TrimPrefix(ref, "#"))
	if key != "" && strings.Trim(key, "0123456789") == "" {
		key = "task-" + key
	}
	return key
}

// task finds a task that the caller may see.
func (s *scene) task(ref string) (parley.Task, error) {
	t, err := s.Tasks().Get(taskKey(ref))
	if errors.Is(err, parley.ErrNotFound) {
		return t, unknown{"task", ref}
	}
	if err != nil {
		return t, err
	}
	if sees, err := s.seesTask(t); err != nil || !sees {
		return parley.Task{}, cmp.Or(err, error(unknown{"task", ref}))
	}
	return t, nil
}

// seesTask says whether a task is one that the caller requested or is assigned, or is under such a one.
func (s *scene) seesTask(t parley.Task) (bool, error) {
	if s.seesAll() {
		return true, nil
	}
	for {
		if t.Requester == s.me.ID || t.Assignee == s.me.ID {
			return true, nil
		}
		if t.Parent == "" {
			return false, nil
		}
		var err error
		if t, err = s.Tasks().Get(t.Parent); err != nil {
			return false, err
		}
	}
}

// viewer shows tasks to the caller, and remembers what it has seen under which.
type viewer struct {
	*scene
	groves map[string]grove // by each task in them
}

func (s *scene) viewer() *viewer { return &viewer{s, map[string]grove{}} }

func (v *viewer) grove(id string) (grove, error) {
	if g, known := v.groves[id]; known {
		return g, nil
	}
	g, err := v.scene.grove(id)
	if err == nil {
		g.spent, err = v.Tasks().Spent(id)
	}
	for _, t := range g.under(id) {
		v.groves[t.ID] = g
	}
	v.groves[id] = g
	return g, err
}

// view is a task as the caller sees it.
func (v *viewer) view(t parley.Task) (parley.TaskView, error) {
	g, err := v.grove(t.ID)
	if err != nil {
		return parley.TaskView{}, err
	}
	view := parley.TaskView{Usage: g.used(t.ID), Elapsed: v.now.Sub(t.CreatedAt)}
	if t.EndedAt != nil {
		view.Elapsed = t.EndedAt.Sub(t.CreatedAt)
	}
	for _, sub := range g.children[t.ID] {
		view.Subtasks = append(view.Subtasks, sub.ID)
	}
	if !t.Status.Ended() {
		if view.WaitsOn, err = v.waitsOn(t); err != nil {
			return view, err
		}
	}
	view.Task, err = v.cut(t)
	return view, err
}

// cut leaves out of a task what is above it, where the caller may not see that.
func (s *scene) cut(t parley.Task) (parley.Task, error) {
	if s.seesAll() {
		return t, nil
	}
	if t.Requester != s.me.ID {
		t.CallbackTo, t.Callback = "", ""
	}
	if t.Parent == "" {
		return t, nil
	}
	parent, err := s.Tasks().Get(t.Parent)
	if err != nil {
		return t, err
	}
	if sees, err := s.seesTask(parent); err != nil || sees {
		return t, err
	}
	t.Parent, t.Root, t.Depth = "", t.ID, 0
	return t, nil
}

// waitsOn is what an open task waits for.
func (s *scene) waitsOn(t parley.Task) (w parley.WaitsOn, err error) {
	children, err := s.Tasks().OpenChildren(t.ID)
	if err != nil {
		return w, err
	}
	for _, sub := range children {
		w.Subtasks = append(w.Subtasks, sub.ID)
	}
	pending, err := s.Approvals().InTask(t.ID)
	if err != nil {
		return w, err
	}
	if len(pending) > 0 {
		w.Approval, w.Number = pending[0].ID, pending[0].Number
	}
	needed, err := s.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		if n.Status != parley.TaskCompleted {
			w.After = append(w.After, n.ID)
		}
	}
	return w, err
}

// Task shows a task the caller may see.
func (h *Hub) Task(ctx context.Context, caller Caller, id string) (view parley.TaskView, err error) {
	err = h.view(ctx, caller, opShowTask, func(s *scene) error {
		t, err := s.taskToRead(caller, id)
		if err == nil {
			s.LeaveOut(nil)
			view, err = s.viewer().view(t)
		}
		return err
	})
	return view, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: showTask, Subject: id})
}

// taskToRead finds a task that the caller may see. A strict one sees only what it is to do itself by itself.
func (s *scene) taskToRead(caller Caller, id string) (parley.Task, error) {
	t, err := s.task(id)
	if err == nil && t.Assignee != s.me.ID {
		err = s.mustRead(origin{caller: caller}, "")
	}
	return t, err
}

const (
	tasksShown = 100
	mostTasks  = 1000
)

// Tasks lists tasks the caller may see, the newest first.
func (h *Hub) Tasks(ctx context.Context, caller Caller, f parley.TaskFilter) (views []parley.TaskView, err error) {
	f.Limit, f.Before = clamp(f.Limit, tasksShown, mostTasks), taskKey(f.Before)
	for _, status := range f.Status {
		if !status.Known() {
			return nil, parley.Errorf(parley.BadInput, "%q is not a state of a task", clipped(string(status))).
				Suggest("use queued, active, completed, failed or cancelled")
		}
	}
	err = h.view(ctx, caller, opListTasks, func(s *scene) error {
		for _, name := range []*string{&f.Assignee, &f.Requester} { // a call that is held is for these
			if err := s.resolve(name); err != nil {
				return err
			}
		}
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		reader := s.me.ID
		if s.seesAll() {
			reader = ""
		}
		s.LeaveOut(nil)
		list, err := s.Tasks().List(f, reader)
		if err != nil {
			return err
		}
		views, err = s.viewAll(list)
		return err
	})
	return views, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listTasks, Tasks: &f})
}

// resolve puts the id of a participant, who may have been removed, in place of what it was called. Nobody stays nobody.
func (s *scene) resolve(name *string) error {
	if *name == "" {
		return nil
	}
	a, err := s.findAgent(*name)
	if errors.Is(err, parley.ErrNotFound) {
		return unknown{"agent", *name}
	}
	*name = a.ID
	return err
}

func (s *scene) viewAll(list []parley.Task) ([]parley.TaskView, error) {
	v, views := s.viewer(), make([]parley.TaskView, 0, len(list))
	// What is further up first: others of the list may be under it, and need not be looked for again.
	for _, t := range slices.SortedFunc(slices.Values(list), func(a, b parley.Task) int { return cmp.Compare(a.Depth, b.Depth) }) {
		if _, err := v.grove(t.ID); err != nil {
			return nil, err
		}
	}
	for _, t := range list {
		view, err := v.view(t)
		if err != nil {
			return nil, err
		}
		views = append(views, view)
	}
	return views, nil
}

// TaskTree shows a task and all under it, each after its parent, by their numbers.
func (h *Hub) TaskTree(ctx context.Context, caller Caller, id string) (views []parley.TaskView, err error) {
	err = h.view(ctx, caller, opReadTree, func(s *scene) error {
		t, err := s.taskToRead(caller, id)
		if err != nil {
			return err
		}
		s.LeaveOut(nil)
		g, err := s.grove(t.ID)
		if err != nil {
			return err
		}
		views, err = s.viewAll(slices.Insert(g.under(t.ID), 0, t))
		return err
	})
	return views, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: showTask, Subject: id})
}

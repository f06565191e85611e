package delegation

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Task shows a task that the caller may see.
func (s *Service) Task(ctx context.Context, caller unit.Caller, id string) (view parley.TaskView, err error) {
	err = s.View(ctx, caller, unit.OpShowTask, func(u *unit.Unit) error {
		t, err := taskToRead(u, caller, id)
		if err == nil {
			u.LeaveOut(nil)
			view, err = tasks.NewViewer(u).View(t)
		}
		return err
	})
	return view, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowTask, Subject: id})
}

// taskToRead finds a task that the caller may see. A strict agent needs an approval for a task of another assignee.
func taskToRead(u *unit.Unit, caller unit.Caller, id string) (parley.Task, error) {
	t, err := tasks.Task(u, id)
	if err == nil && t.Assignee != u.Me.ID {
		err = policy.MustRead(u, unit.Origin{Caller: caller}, "")
	}
	return t, err
}

// Tasks lists tasks that the caller may see, the newest first.
func (s *Service) Tasks(ctx context.Context, caller unit.Caller, f parley.TaskFilter) (views []parley.TaskView, err error) {
	f.Limit, f.Before = unit.Clamp(f.Limit, tasks.TasksShown, tasks.MostTasks), tasks.TaskKey(f.Before)
	for _, status := range f.Status {
		if !status.Known() {
			return nil, parley.Errorf(parley.BadInput, "%q is not a state of a task", unit.Clipped(string(status))).
				Suggest("use queued, active, completed, failed or cancelled")
		}
	}
	err = s.View(ctx, caller, unit.OpListTasks, func(u *unit.Unit) error {
		for _, name := range []*string{&f.Assignee, &f.Requester} { // a held call keeps these ids
			if err := tasks.Resolve(u, name); err != nil {
				return err
			}
		}
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		reader := u.Me.ID
		if u.SeesAll() {
			reader = ""
		}
		u.LeaveOut(nil)
		list, err := u.Tasks().List(f, reader)
		if err != nil {
			return err
		}
		views, err = tasks.ViewAll(u, list)
		return err
	})
	return views, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListTasks, Tasks: &f})
}

// TaskTree shows a task and its subtasks at all levels, each after its parent, in the order of their numbers.
func (s *Service) TaskTree(ctx context.Context, caller unit.Caller, id string) (views []parley.TaskView, err error) {
	err = s.View(ctx, caller, unit.OpReadTree, func(u *unit.Unit) error {
		t, err := taskToRead(u, caller, id)
		if err != nil {
			return err
		}
		u.LeaveOut(nil)
		g, err := tasks.FindSubtree(u, t.ID)
		if err != nil {
			return err
		}
		views, err = tasks.ViewAll(u, slices.Insert(g.Under(t.ID), 0, t))
		return err
	})
	return views, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowTask, Subject: id})
}

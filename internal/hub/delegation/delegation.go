// Package delegation holds the use cases of tasks: making, updating, cancelling, retrying and reassigning them, and reading them.
package delegation

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names   *names.Service
	contact *contact.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service, contact *contact.Service) *Service {
	return &Service{Core: core, names: names, contact: contact}
}

// NewTask makes a task for another participant, by the same rules as a delegation, or for the caller itself.
func (s *Service) NewTask(ctx context.Context, caller unit.Caller, n parley.NewTask) (view parley.TaskView, err error) {
	if err := n.Check(s.Config.Limits); err != nil {
		return view, err
	}
	if n.Assignee != "" { // a task of the caller itself sends nothing
		c, err := contact.CheckContact(ctx, s.contact, caller, unit.OpMakeTask, contactOf(n))
		if err != nil {
			return view, err
		}
		n.Artifacts = c.Artifacts
	}
	if n.DependsOn, err = s.names.FindNeeded(ctx, caller, unit.OpMakeTask, n.DependsOn); err != nil {
		return view, err
	}
	request := contact.Prepare(contactOf(n))
	err = s.Update(ctx, caller, unit.OpMakeTask, func(u *unit.Unit) error {
		o, err := contact.FindOrigin(u, caller)
		if err != nil {
			return err
		}
		made, err := requestTask(u, o, n, request)
		if err != nil {
			return err
		}
		view, err = viewTask(u, made.Task)
		view.Notices, view.UnknownMentions = made.Notices, u.UnknownNames
		return err
	})
	view.Notices = append(view.Notices, post.UnknownNotices(ctx, s.Core, view.UnknownMentions)...)
	n.Assignee = policy.HeldTarget(err, n.Assignee)
	return view, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolNewTask, n)
}

func requestTask(u *unit.Unit, o unit.Origin, n parley.NewTask, request contact.Prepared) (parley.Contacted, error) {
	o.Task = unit.TaskDetails{Title: n.Title, Parent: n.Parent, Reason: n.DelegationReason}
	return makeTask(u, o, request)
}

// contactOf returns the contact by which a new task reaches its assignee.
func contactOf(n parley.NewTask) parley.Contact {
	c := parley.Contact{
		Pattern: parley.PatternDelegate, Agent: n.Assignee, Message: n.Text, Priority: n.Priority, Deadline: n.Deadline, After: n.DependsOn,
		Artifacts: n.Artifacts, IdempotencyKey: n.IdempotencyKey,
	}
	unit.SetDefault(&c.Message, n.Title)
	return c
}

// makeTask makes the task that a contact requests. If the contact names nobody else, it is a task of the caller itself.
func makeTask(u *unit.Unit, o unit.Origin, c contact.Prepared) (made parley.Contacted, err error) {
	forSelf := c.Agent == ""
	if !forSelf {
		a, err := agents.Agent(u, c.Agent)
		if err != nil {
			return made, err
		}
		forSelf = a.ID == u.Me.ID
	}
	if forSelf {
		made.Task, err = assignment.FindOrMakeOwnTask(u, o, c.Contact)
		return made, err
	}
	made, _, err = contact.Contact(u, o, c)
	return made, err
}

// viewTask returns a task as the caller sees it.
func viewTask(u *unit.Unit, id string) (parley.TaskView, error) {
	t, err := u.Tasks().Get(id)
	if err != nil {
		return parley.TaskView{}, err
	}
	return tasks.NewViewer(u).View(t)
}

// changeTask changes a task and returns it as the caller sees it afterwards.
func changeTask(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, id string, change func(*unit.Unit, *parley.Task) error) (view parley.TaskView, err error) {
	err = core.Update(ctx, caller, do, func(u *unit.Unit) error {
		t, err := taskToChange(u, caller, id)
		if err != nil {
			return err
		}
		if err := change(u, &t); err != nil {
			return err
		}
		view, err = viewTask(u, t.ID)
		return err
	})
	return view, err
}

// taskToChange finds a task that the caller may see, or whose assignee it manages. If the id is empty, it is the task of the
// caller's run.
func taskToChange(u *unit.Unit, caller unit.Caller, id string) (parley.Task, error) {
	if id == "" {
		r, err := callerRun(u, caller)
		if err != nil {
			return parley.Task{}, err
		}
		id = r.Task
	}
	if id == "" {
		return parley.Task{}, parley.Errorf(parley.BadInput, "the call names no task, and its run has none").Suggest("name the task: task-…")
	}
	t, err := tasks.Task(u, id)
	if err == nil {
		return t, nil
	}
	if managed, found := findManagedTask(u, id); found {
		return managed, nil
	}
	return t, err
}

// callerRun returns the run of the caller, or an empty one if the caller is no run.
func callerRun(u *unit.Unit, caller unit.Caller) (r parley.Run, err error) {
	if caller.Run == "" {
		return r, nil
	}
	return runs.LiveRun(u, caller.Run)
}

// findManagedTask returns a task whose assignee the caller manages, and false if there is none.
func findManagedTask(u *unit.Unit, id string) (parley.Task, bool) {
	t, err := u.Tasks().Get(tasks.TaskKey(id))
	if err != nil {
		return t, false
	}
	assignee, err := u.Agents().Find(t.Assignee)
	return t, err == nil && assignee.Manager == u.Me.ID
}

// UpdateTask changes the progress or the status of a task. If the id is empty, it is the task of the caller's run. Only its
// assignee and owners may call it.
func (s *Service) UpdateTask(ctx context.Context, caller unit.Caller, id string, c parley.TaskChange) (parley.TaskView, error) {
	if err := c.Check(s.Config.Limits); err != nil {
		return parley.TaskView{}, err
	}
	return changeTask(ctx, s.Core, caller, unit.OpUpdateTask, id, func(u *unit.Unit, t *parley.Task) error {
		if !work.MayReport(u, *t) {
			return parley.Errorf(parley.NotPermitted, "only %s or an owner can update %s", t.Assignee, t.ID).
				Suggest("its requester can cancel, retry or reassign it")
		}
		return work.ApplyChange(u, t, c)
	})
}

// CancelTask cancels a task and all its subtasks. The requesters of the task and of its parent tasks, the assignees of its
// parent tasks, the manager of its assignee, and owners may call it.
func (s *Service) CancelTask(ctx context.Context, caller unit.Caller, id, reason string) (parley.TaskView, error) {
	if err := parley.CheckReason(reason); err != nil {
		return parley.TaskView{}, err
	}
	return directOrHold(ctx, s.Core, caller, unit.OpCancelTask, policy.TaskArgs{Task: id, Act: policy.CancelsTask, Reason: reason})
}

func cancelTask(u *unit.Unit, t parley.Task, reason string) error {
	if t.Assignee == u.Me.ID && t.Requester != u.Me.ID && !u.SeesAll() {
		return parley.Errorf(parley.NotPermitted, "%s cannot cancel a task that %s requested", u.Me.ID, t.Requester).
			Suggest("report that the task has failed, and why")
	}
	return work.EndTask(u, t, work.CancelledEnding(reason))
}

// RetryTask queues a failed or cancelled task again: the hub sends its request to the assignee again.
func (s *Service) RetryTask(ctx context.Context, caller unit.Caller, id string) (parley.TaskView, error) {
	return directOrHold(ctx, s.Core, caller, unit.OpRetryTask, policy.TaskArgs{Task: id, Act: policy.RetriesTask})
}

// ReassignTask gives a task to another assignee. The work of the former assignee ends; subtasks go on.
func (s *Service) ReassignTask(ctx context.Context, caller unit.Caller, id, assignee string) (parley.TaskView, error) {
	return directOrHold(ctx, s.Core, caller, unit.OpReassignTask, policy.TaskArgs{Task: id, Act: policy.ReassignsTask, Assignee: assignee})
}

// Task shows a task that the caller may see.
func (s *Service) Task(ctx context.Context, caller unit.Caller, id string) (view parley.TaskView, err error) {
	err = s.View(ctx, caller, unit.OpShowTask, func(u *unit.Unit) error {
		t, err := taskToRead(u, caller, id)
		if err == nil {
			u.SkipUnreadable(nil)
			view, err = tasks.NewViewer(u).View(t)
		}
		return err
	})
	return view, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowTask, Subject: id})
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
	f.Limit, f.Before = unit.Clamp(f.Limit, tasks.TasksShown, tasks.MaxTasks), tasks.TaskKey(f.Before)
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
		u.SkipUnreadable(nil)
		list, err := u.Tasks().List(f, reader)
		if err != nil {
			return err
		}
		views, err = tasks.ViewAll(u, list)
		return err
	})
	return views, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListTasks, Tasks: &f})
}

// TaskTree shows a task and its subtasks at all levels, each after its parent, in the order of their numbers.
func (s *Service) TaskTree(ctx context.Context, caller unit.Caller, id string) (views []parley.TaskView, err error) {
	err = s.View(ctx, caller, unit.OpReadTree, func(u *unit.Unit) error {
		t, err := taskToRead(u, caller, id)
		if err != nil {
			return err
		}
		u.SkipUnreadable(nil)
		g, err := tasks.FindSubtree(u, t.ID)
		if err != nil {
			return err
		}
		views, err = tasks.ViewAll(u, slices.Insert(g.Under(t.ID), 0, t))
		return err
	})
	return views, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowTask, Subject: id})
}

package work

import (
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SetRequest stores which message asked for a task.
func SetRequest(u *unit.Unit, t parley.Task, m parley.Message) error {
	after := t
	after.Message, after.Conversation, after.TraceID = m.ID, m.Conversation, m.TraceID
	unit.SetDefault(&after.CallbackTo, m.Conversation)
	if err := tasks.Save(u, &t, after); err != nil {
		return err
	}
	if err := tasks.NoteTask(u, parley.EventTask(t.Status), t); err != nil {
		return err
	}
	return needsTask(u, t)
}

// AddToParent makes a new task a subtask of parent. E005 if parent has ended, the tree is too deep, or too many of its tasks are open.
func AddToParent(u *unit.Unit, t, parent *parley.Task) error {
	if parent == nil {
		return nil
	}
	if parent.Status.Ended() {
		return parley.Errorf(parley.DependencyFailed, "%s is %s and cannot get new subtasks", parent.ID, parent.Status).
			Suggest("retry that task, or delegate the work outside of it")
	}
	t.Parent, t.Root, t.Depth, t.OriginalRequester = parent.ID, parent.Root, parent.Depth+1, parent.OriginalRequester
	unit.SetDefault(&t.CallbackTo, parent.Conversation)
	t.Deadline = sooner(t.Deadline, parent.Deadline)
	if t.Depth > parley.MaxTaskDepth {
		return parley.Errorf(parley.DependencyFailed, "a subtask of %s would be %d levels deep, the limit is %d", parent.ID, t.Depth, parley.MaxTaskDepth).
			Suggest("do the work in this task, or let the assignee of a task above delegate it")
	}
	open, err := u.Tasks().OpenUnder(t.Root)
	if err != nil || open < parley.MaxTasksOpen {
		return err
	}
	return parley.Errorf(parley.DependencyFailed, "%d tasks under %s are open, the limit is %d", open, t.Root, parley.MaxTasksOpen).
		Suggest("wait until some of them have ended")
}

// FindParent returns the parent of a new task, or nil.
func FindParent(u *unit.Unit, o unit.Origin) (*parley.Task, error) {
	if o.Task.Parent == "" {
		return taskOf(u, o)
	}
	t, err := tasks.Task(u, o.Task.Parent)
	if err != nil {
		return nil, err
	}
	if t.Assignee != u.Me.ID && !u.SeesAll() {
		return nil, parley.Errorf(parley.NotPermitted, "%s cannot add subtasks to %s", u.Me.ID, t.ID).Suggest("ask its assignee %s to add the subtask", t.Assignee)
	}
	return &t, nil
}

// taskOf returns the task of a call: that of its run, which gets one if it has none. It returns nil outside of runs.
func taskOf(u *unit.Unit, o unit.Origin) (*parley.Task, error) {
	id := ""
	switch {
	case o.Run != nil:
		id = o.Run.Task
	case o.Approved != nil:
		id = o.Approved.Task
	}
	if id != "" {
		t, err := u.Tasks().Get(id)
		if err != nil || t.Assignee == u.Me.ID {
			return &t, err
		}
	}
	if o.Run == nil {
		return taskOfHeld(u, o)
	}
	return giveTask(u, o.Run)
}

// taskOfHeld is the task of the run that made a held call. If the run has none it gets one, even after its end: the call
// goes on in that task.
func taskOfHeld(u *unit.Unit, o unit.Origin) (*parley.Task, error) {
	if o.Approved == nil || o.Approved.Run == "" {
		return nil, nil
	}
	r, err := u.Runs().Get(o.Approved.Run)
	if err != nil {
		return nil, unit.IgnoreNotFound(err) // the run was deleted with its conversation
	}
	if t, mine, err := FindOpenTask(u, r); err != nil || mine {
		return &t, err
	}
	return giveTask(u, &r)
}

// giveTask gives a run a task of its own: the task that an earlier attempt was given, or a new one.
func giveTask(u *unit.Unit, r *parley.Run) (*parley.Task, error) {
	earlier, err := runs.Earlier(u, *r)
	if err != nil {
		return nil, err
	}
	t, found := parley.Task{}, false
	for _, other := range earlier {
		if t, found, err = FindOpenTask(u, other); err != nil || found {
			break
		}
	}
	if err == nil && !found {
		t, err = makeTaskFor(u, *r)
	}
	if err != nil {
		return nil, err
	}
	after := *r
	after.Task = t.ID
	if err := runs.Save(u, r, after); err != nil {
		return nil, err
	}
	if err := park(u, *r, t); err != nil {
		return nil, err
	}
	return &t, moveApprovals(u, t, append(earlier, *r))
}

// makeTaskFor makes the task for what has woken a run.
func makeTaskFor(u *unit.Unit, r parley.Run) (t parley.Task, err error) {
	t = parley.Task{
		Title: "a run of " + r.Agent, Requester: r.Agent, Assignee: r.Agent, Source: runs.SourceRun, Priority: parley.DefaultPriority, TraceID: r.TraceID,
		Conversation: r.Conversation, Status: parley.TaskActive, Attempt: 1, CreatedAt: u.Now, UpdatedAt: u.Now, StartedAt: &u.Now,
	}
	if n := len(r.Triggers); n > 0 {
		if err := fillFromTrigger(u, &t, r.Triggers[n-1]); err != nil {
			return t, err
		}
	}
	t.OriginalRequester = t.Requester
	if t.ID, err = u.Tasks().NextID(); err != nil {
		return t, err
	}
	t.Root = t.ID
	return t, tasks.AddTask(u, t)
}

// fillFromTrigger fills in what a task takes over from the message that has woken its assignee.
func fillFromTrigger(u *unit.Unit, t *parley.Task, trigger string) error {
	m, err := u.Messages().Get(trigger)
	if errors.Is(err, parley.ErrNotFound) {
		return nil // the message was erased
	}
	if err != nil {
		return err
	}
	t.Message, t.Priority, t.Source = m.ID, m.Priority, m.Source
	if title := parley.TitleOf(m.Content.Text); title != "" {
		t.Title = title
	}
	if m.From != parley.System {
		t.Requester = m.From
	}
	d, err := u.Deliveries().Get(m.ID, t.Assignee)
	if err == nil && d.Purpose == parley.PurposeAsk {
		t.Source = parley.TaskFromAsk
	}
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

// sooner returns the earlier of two deadlines.
func sooner(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

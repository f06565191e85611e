package post

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// TaskEffect is what a message on its way into the store does to a task: it requests the task, or reports a change of it.
type TaskEffect struct {
	task      parley.Task
	requested bool
	change    parley.TaskChange
}

// FindTaskEffect finds out what a message does to a task, and makes the task that it requests. It sets the task of the message. It returns nil
// for a message that does nothing to a task; if the sender may not change the task, a notice says why.
func FindTaskEffect(u *unit.Unit, p Posting, m *parley.Message, parent *parley.Message, where parley.Conversation, r *parley.Receipt) (*TaskEffect, error) {
	if err := setTask(u, p, m); err != nil || p.Intent == nil || p.Request || p.runAnswer {
		return nil, err
	}
	if p.Intent.Wanted != nil {
		return requestTask(u, p, m, where, r)
	}
	t, found, err := reportedTask(u, p, m, parent)
	if err != nil || !found {
		return nil, err
	}
	if p.Intent.reply && (u.Me.Dispatched() || t.Assignee != u.Me.ID || t.Status.Ended()) {
		return nil, nil
	}
	if why := mayReport(u, t, *p.Intent.change); why != nil {
		r.Notices = append(r.Notices, fmt.Sprintf("%s was not changed: %s", t.ID, parley.AsError(why).Message))
		return nil, nil
	}
	m.Task = t.ID
	return &TaskEffect{task: t, change: *p.Intent.change}, nil
}

// setTask sets the task that a message belongs to: the task of a contact, the task of the run whose answer it is, or the task that the
// sender names. The sender must be allowed to see that one.
func setTask(u *unit.Unit, p Posting, m *parley.Message) error {
	switch {
	case p.Task != "":
		m.Task = p.Task
	case p.runAnswer:
		m.Task = p.By.Task
	case p.Draft.Task != "":
		t, err := tasks.Task(u, p.Draft.Task)
		m.Task = t.ID
		return err
	}
	return nil
}

// reportedTask returns the task that a message reports on: the task that it names, or the task of the message that it replies to. found
// is false if there is none, or if the caller may not see it.
func reportedTask(u *unit.Unit, p Posting, m, parent *parley.Message) (t parley.Task, found bool, err error) {
	switch {
	case m.Task != "":
		t, err = u.Tasks().Get(m.Task)
	case parent == nil || p.Intent.reply && parent.Task == "":
		return t, false, nil
	default:
		t, err = tasks.TaskOfMessage(u, *parent)
	}
	if errors.Is(err, parley.ErrNotFound) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	sees, err := tasks.SeesTask(u, t)
	return t, sees, err
}

// mayReport returns why the caller may not make a change to a task, or nil if it may.
func mayReport(u *unit.Unit, t parley.Task, c parley.TaskChange) error {
	switch {
	case !work.MayReport(u, t):
		return parley.Errorf(parley.NotPermitted, "only %s or an owner can report on it", t.Assignee)
	case t.Status.Ended():
		return parley.Errorf(parley.BadInput, "it is %s already", t.Status)
	case c.Status == parley.TaskCompleted:
		return work.MustHaveNothingOpen(u, t)
	default:
		return nil
	}
}

// requestTask makes the task that a message asks one participant for. A message to all, or to nobody in particular, asks for none, and
// so does a message to a recipient that does not read the conversation.
func requestTask(u *unit.Unit, p Posting, m *parley.Message, where parley.Conversation, r *parley.Receipt) (*TaskEffect, error) {
	to := m.To
	if others := m.Addressees(where); to == "" && where.FixedMembers() && len(others) == 1 {
		to = others[0]
	}
	if to == "" || to == parley.All {
		return nil, nil
	}
	assignee, err := agents.Agent(u, to)
	if err != nil {
		return nil, err
	}
	o := unit.Origin{Caller: unit.Caller{Agent: u.Me.ID, Source: p.Source, Run: p.Run}, Run: p.By, Approved: p.approved, Task: p.Intent.details}
	if err := policy.MayCall(u, o, assignee); err != nil { // even if the rules let the caller answer
		return nil, err
	}
	o.Task.Source = p.Source
	if !u.SeesAll() || tasks.Resolve(u, &o.Task.Original) != nil {
		o.Task.Original = "" // only an owner names another requester, and one that exists here
	}
	if reads, err := trees.CanRead(u, assignee, where); err != nil || !reads {
		return nil, errors.Join(err, trees.CheckReachable(u, assignee))
	}
	if err := assignment.CheckAvailable(u, assignee, parley.PatternDelegate); err != nil {
		return nil, err
	}
	t, err := assignment.NewTask(u, &o, assignee, *p.Intent.Wanted)
	if err != nil {
		return nil, err
	}
	r.Notices = append(r.Notices, o.Task.Notices...)
	m.Task, m.Deadline = t.ID, nil // the task keeps the deadline
	return &TaskEffect{task: t, requested: true}, tasks.InsertRow(u.Tx, t)
}

// setTaskPurpose marks the delivery to the assignee as work and wakes the assignee. While the task depends on others, the assignee gets
// no delivery. A report does not wake the requester.
func setTaskPurpose(u *unit.Unit, j *TaskEffect, p Posting, m parley.Message, to []parley.NewDelivery) ([]parley.NewDelivery, error) {
	switch {
	case j != nil && j.requested:
		for i := range to {
			if to[i].Agent == j.task.Assignee {
				to[i].Wakes, to[i].Purpose = true, parley.PurposeTask
			}
		}
	case j != nil && (j.change.Status.Ended() && j.task.CallbackTo != "" || m.Type == typeStatusUpdate):
		return withoutRequester(u, *j, to)
	case p.Purpose != parley.PurposeTask || m.Task == "":
		return to, nil
	}
	t, err := u.Tasks().Get(m.Task)
	if err != nil {
		return to, err
	}
	waits, err := tasks.WaitsForOthers(u, t)
	if waits {
		to = slices.DeleteFunc(to, func(r parley.NewDelivery) bool { return r.Purpose == parley.PurposeTask })
	}
	return to, err
}

// withoutRequester removes the wake from the requester of a task that a message reports on. A requester in a directory tree does not
// even get the message if the task has ended: the hub writes it a document of its own.
func withoutRequester(u *unit.Unit, j TaskEffect, to []parley.NewDelivery) ([]parley.NewDelivery, error) {
	requester, err := u.Agents().Find(j.task.Requester)
	if err != nil {
		return to, err
	}
	if j.change.Status.Ended() && requester.Runtime == parley.RuntimeBridge {
		return slices.DeleteFunc(to, func(r parley.NewDelivery) bool { return r.Agent == requester.ID }), nil
	}
	for i := range to {
		if to[i].Agent == requester.ID {
			to[i].Wakes, to[i].Purpose = false, ""
		}
	}
	return to, nil
}

// ApplyTaskEffect does to the task what a stored message says.
func ApplyTaskEffect(u *unit.Unit, j *TaskEffect, m parley.Message, tree *parley.Bridge) error {
	if j == nil {
		return nil
	}
	if j.requested {
		return work.SetRequest(u, j.task, m)
	}
	t, err := u.Tasks().Get(j.task.ID) // the answer may have begun it
	if err != nil {
		return err
	}
	if j.change.Status.Ended() {
		if err := countAsCallback(u, &t, m, tree); err != nil {
			return err
		}
	}
	return work.ApplyChange(u.ReportedBy(&m), &t, j.change)
}

// countAsCallback makes the document by which a task ends the callback to its requester, if the requester reads the document in its
// inbox or in the same channel of the same tree. A callback of the hub would say the same twice.
func countAsCallback(u *unit.Unit, t *parley.Task, m parley.Message, tree *parley.Bridge) error {
	if tree == nil || t.CallbackTo == "" {
		return nil
	}
	to, _, err := work.FindCallbackRecipient(u, *t)
	if err != nil {
		return err
	}
	reads := u.DocumentReader == to.ID
	if !reads && m.Conversation == t.CallbackTo && tree.Layout == parley.LayoutAgentOS {
		_, reads, err = trees.LivesIn(u, *tree, to.ID)
	}
	if err != nil || !reads {
		return err
	}
	after := *t
	after.Callback = m.ID
	return tasks.Save(u, t, after)
}

package assignment

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// RetryTask has an ended task done again by its assignee.
func RetryTask(u *unit.Unit, o unit.Origin, t *parley.Task) error {
	if err := mustDirect(u, *t, "retry"); err != nil {
		return err
	}
	if !t.Status.Ended() {
		return parley.Errorf(parley.BadInput, "%s is %s and has not ended", t.ID, t.Status).Because(parley.Conflict).
			Suggest("wait until it has ended, cancel it, or reassign it")
	}
	to, err := agents.Agent(u, t.Assignee)
	if err == nil {
		err = mayHandOver(u, o, to)
	}
	if err != nil {
		return err
	}
	return giveAgain(u, t, to)
}

// ReassignTask gives a task to another assignee.
func ReassignTask(u *unit.Unit, o unit.Origin, t *parley.Task, assignee string) error {
	if err := mustDirect(u, *t, "reassign"); err != nil {
		return err
	}
	to, err := agents.Agent(u, assignee)
	switch {
	case err != nil:
		return err
	case to.Kind == parley.KindSystem:
		return conversations.ToSystem(to.ID)
	case to.ID == t.Assignee && !t.Status.Ended():
		return parley.Errorf(parley.BadInput, "%s already has %s", to.ID, t.ID).Suggest("name another assignee")
	}
	if err := mayHandOver(u, o, to); err != nil {
		return err
	}
	return giveAgain(u, t, to)
}

// mayHandOver refuses a caller that may not contact the new assignee. Callers may take a task themselves.
func mayHandOver(u *unit.Unit, o unit.Origin, to parley.Agent) error {
	if to.ID == u.Me.ID {
		return nil
	}
	return policy.MayCall(u, o, to)
}

// mustDirect refuses callers that may not decide who does a task. The requester, the assignee's manager and owners may.
func mustDirect(u *unit.Unit, t parley.Task, act string) error {
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil || t.Requester == u.Me.ID || u.Me.ID == assignee.Manager || u.SeesAll() {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s may not %s %s, which %s requested", u.Me.ID, act, t.ID, t.Requester).
		Suggest("ask %s, the manager of %s, or an owner of this hub", t.Requester, t.Assignee)
}

// giveAgain queues a task for an assignee and asks the assignee for it by a new message.
func giveAgain(u *unit.Unit, t *parley.Task, to parley.Agent) error {
	if t.Status == parley.TaskCompleted {
		return work.EndedError(*t)
	}
	err := mayTake(u, *t, to)
	if err != nil {
		return err
	}
	_, asked, err := work.AskOf(u, t.ID) // if so, the ask tells its end
	if err != nil {
		return err
	}
	before, handed := *t, *t
	place := t.Conversation // an old answer must not end it
	if handed.Assignee = to.ID; place == "" && (to.ID != t.Requester || t.Parent != "") {
		if place, err = work.FindRequestPlace(u, handed); err != nil {
			return err
		}
	}
	again := func(t *parley.Task) {
		if to.ID != t.Assignee {
			t.Assignee, t.Conversation = to.ID, ""
		}
		if !asked {
			work.SetCallbackTo(t, place)
		}
		t.Attempt++
		if t.Deadline != nil && !t.Deadline.After(u.Now) {
			t.Deadline = nil // else it would fail at once
		}
	}
	if t.Status == parley.TaskQueued { // nobody has begun it: the state stays
		after := *t
		again(&after)
		err = tasks.Save(u, t, after)
		if err == nil {
			err = tasks.NoteTask(u, parley.EventTask(t.Status), *t)
		}
	} else {
		err = tasks.SetState(u, t, parley.TaskQueued, again)
	}
	// After the hand-over: work that ends for the old assignee must not end the task.
	if err == nil && !before.Status.Ended() {
		err = work.StopWork(u, before, t.ID+" was reassigned to "+to.ID, work.Ending{Status: parley.TaskQueued})
	}
	if err != nil {
		return err
	}
	return work.Offer(u, t)
}

// mayTake returns why a participant cannot be given a task now, or nil.
func mayTake(u *unit.Unit, t parley.Task, to parley.Agent) error {
	if to.ID != t.Assignee {
		if err := trees.CheckReachable(u, to); err != nil { // the new assignee is asked in a DM
			return err
		}
	}
	if to.ID != t.Requester {
		if err := CheckAvailable(u, to, parley.PatternDelegate); err != nil {
			return err
		}
	}
	if t.Parent != "" && t.Status.Ended() {
		parent, err := u.Tasks().Get(t.Parent)
		if err != nil {
			return err
		}
		if parent.Status.Ended() {
			return parley.Errorf(parley.BadInput, "%s is a subtask of %s, which is %s", t.ID, parent.ID, parent.Status).Because(parley.Conflict).
				Suggest("retry that task first: parley task retry %s", parent.ID)
		}
	}
	needed, err := u.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		if n.Status == parley.TaskFailed || n.Status == parley.TaskCancelled {
			return tasks.NotCompleted(n)
		}
	}
	return err
}

// ReviveTask reopens a task that failed with a dead letter, when the dead letter is about to be delivered again.
func ReviveTask(u *unit.Unit, d parley.Delivery) error {
	m, err := u.Messages().Get(d.Message)
	if err != nil || m.Task == "" || d.Purpose == "" {
		return err
	}
	t, err := u.Tasks().Get(m.Task)
	if err != nil || t.Status != parley.TaskFailed || t.Assignee != d.Recipient {
		return unit.IgnoreNotFound(err)
	}
	assignee, err := agents.Agent(u, t.Assignee)
	if err == nil {
		err = mayTake(u, t, assignee)
	}
	if err == nil {
		err = tasks.SetState(u, &t, parley.TaskQueued, func(t *parley.Task) {
			if t.Attempt++; t.Source == parley.TaskFromAsk { // the ask is over
				work.SetCallbackTo(t, t.Conversation)
			}
		})
	}
	if err != nil || d.Purpose == parley.PurposeTask {
		return err
	}
	return tasks.SetState(u, &t, parley.TaskActive, nil)
}

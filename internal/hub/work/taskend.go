package work

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
)

// Ending is how a task ends.
type Ending struct {
	Status  parley.TaskState
	outcome parley.TaskOutcome
	result  *parley.TaskResult
	cause   *parley.Error
	own     bool   // the assignee has ended it: its runs go on
	run     string // the run that is ending by itself
	answer  string // the final message of its last run
}

// failing is the ending of a task that has failed.
func failing(cause *parley.Error) Ending { return Ending{Status: parley.TaskFailed, cause: cause} }

// CancelledEnding is the ending of a task that was cancelled.
func CancelledEnding(reason string) Ending {
	message := "cancelled"
	if reason != "" {
		message += ": " + reason
	}
	return Ending{Status: parley.TaskCancelled, cause: parley.Errorf(parley.Unavailable, "%s", message)}
}

// EndTask ends a task with all consequences, in one transaction: unless it was completed, its open subtasks are cancelled; work on it
// stops; its requester gets a callback; and the tasks that depend on it begin or fail.
func EndTask(u *unit.Unit, t parley.Task, ending Ending) error {
	ended := []parley.Task{t}
	if err := endOne(u, &ended[0], ending); err != nil {
		return err
	}
	if ending.Status != parley.TaskCompleted {
		subtasks, err := cancelUnder(u, ended[0])
		if err != nil {
			return err
		}
		ended = append(ended, subtasks...)
	}
	for i := range ended {
		if err := reportEnd(u, &ended[i]); err != nil {
			return err
		}
		if err := reports.CopyEnd(u, ended[i]); err != nil {
			return err
		}
		if err := askTaskEnded(u, ended[i], ending.answer); err != nil {
			return err
		}
	}
	for _, t := range ended {
		if err := freeDependants(u, t); err != nil {
			return err
		}
	}
	return nil
}

// endOne ends one task, and the work on it.
func endOne(u *unit.Unit, t *parley.Task, ending Ending) error {
	if t.Status == parley.TaskQueued && ending.Status == parley.TaskCompleted {
		if err := tasks.SetState(u, t, parley.TaskActive, nil); err != nil {
			return err
		}
	}
	err := tasks.SetState(u, t, ending.Status, func(t *parley.Task) {
		t.Outcome, t.Error = ending.outcome, ending.cause
		if ending.result != nil {
			t.Result = ending.result
		}
	})
	if err != nil {
		return err
	}
	return StopWork(u, *t, t.ID+" is "+string(t.Status), ending)
}

// cancelUnder cancels the open subtasks of a task that has ended without being completed.
func cancelUnder(u *unit.Unit, t parley.Task) (ended []parley.Task, err error) {
	g, err := tasks.FindSubtree(u, t.ID)
	if err != nil {
		return nil, err
	}
	for _, sub := range g.Under(t.ID) {
		if sub.Status.Ended() {
			continue
		}
		if err := endOne(u, &sub, CancelledEnding(t.ID+" is "+string(t.Status))); err != nil {
			return nil, err
		}
		ended = append(ended, sub)
	}
	return ended, nil
}

// maxStopped bounds what one search for the deliveries of a task returns.
const maxStopped = 1000

// StopWork ends what is going on for a task: the approvals of its assignee, its runs, and the deliveries that would wake its assignee.
// A polling assignee is told, and does not get again what it has already fetched: see endIfOutdated.
func StopWork(u *unit.Unit, t parley.Task, why string, ending Ending) error {
	if err := withdrawApprovalsIn(u, t.ID); err != nil {
		return err
	}
	live, err := u.Runs().InTask(t.ID)
	for i := range live {
		if r := &live[i]; err == nil && r.Cancel == "" && r.ID != ending.run && !ending.own {
			err = runs.Cancel(u, r, why)
		}
	}
	if err != nil {
		return err
	}
	a, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	waiting, err := u.Queue().OfTask(a.ID, t.ID, maxStopped)
	if err == nil {
		err = settleShownTask(u, t, a)
	}
	done, begun := ending.own || ending.Status == parley.TaskCompleted, t.StartedAt != nil
	for i := range waiting {
		d := &waiting[i]
		begun = begun || d.DeliveredAt != nil
		switch {
		case err != nil:
		case d.Lease != "": // its holder settles it, or it is returned: see endIfOutdated
		case done:
			err = deliveries.SetState(u, d, parley.DeliveryAnswered, nil)
		default:
			err = FailUnwanted(u, d, why)
		}
	}
	if err != nil || !begun || done {
		return err
	}
	return TellAssignee(u, t, a, why)
}

// settleShownTask settles the requests for an ended task that a person has seen.
func settleShownTask(u *unit.Unit, t parley.Task, assignee parley.Agent) error {
	shown, err := shownAndWanted(u, assignee, parley.PurposeTask)
	for i := range shown {
		if err != nil {
			return err
		}
		var m parley.Message
		if m, err = u.Messages().Get(shown[i].Message); err == nil && m.Task == t.ID && shown[i].State == parley.DeliverySeen {
			err = deliveries.SetState(u, &shown[i], parley.DeliveryAcked, nil)
		}
	}
	return err
}

// FailUnwanted ends a delivery that is no longer wanted. The sender knows why, and is not told.
func FailUnwanted(u *unit.Unit, d *parley.Delivery, why string) error {
	cause := parley.Errorf(parley.Unavailable, "%s", why)
	return deliveries.SetState(u, d, parley.DeliveryFailed, func(d *parley.Delivery) { d.Failure = cause })
}

// TellAssignee tells an assignee that works on a task without a run that the work is no longer wanted.
func TellAssignee(u *unit.Unit, t parley.Task, a parley.Agent, why string) error {
	if a.RemovedAt != nil || a.Dispatched() || t.Conversation == "" {
		return nil
	}
	text := parley.Own(why)
	if t.Error != nil {
		text = text.Own(": ").Quote("", strings.TrimPrefix(t.Error.Message, string(t.Status)+": "))
	}
	_, err := messages.PostAsHub(u, parley.Message{
		To: a.ID, Conversation: t.Conversation, Type: parley.TypeStatus, Task: t.ID, TraceID: t.TraceID,
	}, text, parley.NewDelivery{Agent: a.ID, Wakes: true, Purpose: parley.PurposeTask})
	return err
}

// reportEnd sends the callback of a task that has ended. It does not wake the assignee of a parent that has ended too.
func reportEnd(u *unit.Unit, t *parley.Task) error {
	if t.CallbackTo == "" || t.Callback != "" {
		return nil
	}
	to, purpose, err := FindCallbackRecipient(u, *t)
	if err != nil {
		return err
	}
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	hops, err := reports.CountHops(u, *t)
	if err != nil {
		return err
	}
	c := reports.Callback{
		To: to.ID, Conversation: t.CallbackTo, About: t.Assignee, Task: t.Parent, Source: reports.SourceResult, Text: t.CallbackWording(assignee.Name),
		Trace: t.TraceID, Hops: hops, Purpose: purpose, Subject: parley.Subject{Task: t.ID},
	}
	if to.Runtime == parley.RuntimeBridge {
		if c, err = reports.MakeEndDocument(u, *t, c); err != nil {
			return err
		}
	}
	m, err := reports.SendCallback(u, c)
	if err != nil {
		return err
	}
	after := *t
	after.Callback = m.ID
	return tasks.Save(u, t, after)
}

// FindCallbackRecipient returns the recipient of a task's callback: the assignee of its parent, or else its requester. The purpose is empty if the
// parent has ended.
func FindCallbackRecipient(u *unit.Unit, t parley.Task) (to parley.Agent, purpose parley.Purpose, err error) {
	id, purpose := t.Requester, parley.PurposeCallback
	if t.Parent != "" {
		parent, err := u.Tasks().Get(t.Parent)
		if err != nil {
			return to, "", err
		}
		if id = parent.Assignee; parent.Status.Ended() {
			purpose = ""
		}
	}
	to, err = u.Agents().Find(id)
	return to, purpose, err
}

// taskSeen is called when the assignee has seen the request for a task: the task begins.
func taskSeen(u *unit.Unit, d parley.Delivery) error {
	t, mine, err := taskBehind(u, d)
	if err != nil || !mine || t.Status != parley.TaskQueued {
		return err
	}
	if waits, err := tasks.WaitsForOthers(u, t); err != nil || waits {
		return err
	}
	return tasks.SetState(u, &t, parley.TaskActive, nil)
}

// taskDeliveryEnded is called when a delivery has failed: the task that it was for fails too, and so does the task that a run was given
// for it.
func taskDeliveryEnded(u *unit.Unit, d parley.Delivery) error {
	if d.Failure != nil && errors.Is(d.Failure, parley.ErrDamagedRow) {
		return taskDamaged(u, d)
	}
	t, mine, err := taskBehind(u, d)
	if err != nil || !mine {
		return err
	}
	ending := failing(parley.Errorf(parley.DependencyFailed, "it failed"))
	if d.Failure != nil {
		ending.cause = FailureWithoutName(*d.Failure, d.Recipient)
	}
	ending.run = d.Run
	return EndTask(u, t, ending)
}

// FailureWithoutName returns a failure without the name of the participant that failed.
func FailureWithoutName(cause parley.Error, who string) *parley.Error {
	cause.Message = PlainReason(&cause, who)
	return &cause
}

// taskBehind returns the open task of its recipient that a delivery is for. mine is false if there is none.
func taskBehind(u *unit.Unit, d parley.Delivery) (t parley.Task, mine bool, err error) {
	var id string
	if d.Purpose == "" {
		id, err = reports.FindGivenTask(u, d)
	} else {
		var m parley.Message
		m, err = u.Messages().Get(d.Message)
		if id = m.Task; m.Damage != nil || errors.Is(err, parley.ErrNotFound) {
			id, err = FindBegunTask(u, d.Message)
		}
	}
	if err != nil || id == "" {
		return t, false, err
	}
	t, mine, err = FindOpenTask(u, parley.Run{Task: id, Agent: d.Recipient})
	if err != nil || !mine || t.Attempt == 1 {
		return t, mine, err
	}
	request, err := u.Messages().Get(t.Message)
	return t, d.Seq >= request.Seq, unit.IgnoreNotFound(err) // an older delivery was for an earlier attempt
}

// endIfOutdated ends a returned delivery whose task has ended, was reassigned to another assignee, or was requested again. It returns true
// if it has ended the delivery. A delivery that only reports on a task is never outdated.
func endIfOutdated(u *unit.Unit, d *parley.Delivery) (bool, error) {
	if d.Purpose != parley.PurposeTask && d.Purpose != parley.PurposeCallback {
		return false, nil
	}
	m, err := u.Messages().Get(d.Message)
	if err != nil || m.Task == "" || m.Type == parley.TypeStatus || m.Source == waits.SourceAsk || m.Source == reports.SourceResult && m.From != parley.System {
		return false, unit.IgnoreNotFound(err) // a message without an id is damaged, and its delivery ends when it is taken
	}
	t, mine, err := taskBehind(u, *d)
	switch {
	case err != nil || mine:
		return false, err
	case t.Assignee != d.Recipient:
		return true, FailUnwanted(u, d, m.Task+" was reassigned to "+t.Assignee)
	case t.Status == parley.TaskCompleted:
		return true, deliveries.SetState(u, d, parley.DeliveryAnswered, nil)
	default:
		return true, FailUnwanted(u, d, m.Task+" is "+string(t.Status))
	}
}

// EndTasksOf fails the open tasks of a participant that was removed.
func EndTasksOf(u *unit.Unit, a parley.Agent) error {
	list, err := u.Tasks().AssignedTo(a.ID)
	if err != nil {
		return err
	}
	for _, t := range list {
		if t, err = u.Tasks().Get(t.ID); err == nil && !t.Status.Ended() { // it may have ended with an earlier one
			err = EndTask(u, t, failing(parley.Errorf(parley.Unavailable, "removed")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WhyDeleted is the reason for ending what was going on in a deleted conversation.
const WhyDeleted = "its conversation was deleted"

// FindTasksIn returns the open tasks that were requested in a conversation, or that its runs belong to.
func FindTasksIn(u *unit.Unit, conversation string, runs []parley.Run) (ids []string, err error) {
	open, err := u.Tasks().List(parley.TaskFilter{Open: true, Limit: math.MaxInt32}, "")
	for _, t := range open {
		if t.Conversation == conversation || slices.ContainsFunc(runs, func(r parley.Run) bool { return r.Task == t.ID }) {
			ids = append(ids, t.ID)
		}
	}
	return ids, err
}

// FailTasks fails those tasks of a deleted conversation that do not go on.
func FailTasks(u *unit.Unit, ids []string) error {
	for _, id := range ids {
		t, err := u.Tasks().Get(id)
		if err != nil {
			return err
		}
		if !t.Status.Ended() { // it may have ended with an earlier one
			err = FailUnlessGoingOn(u, t, parley.Errorf(parley.Unavailable, WhyDeleted).Suggest("retry the task"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

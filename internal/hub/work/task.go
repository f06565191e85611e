package work

import (
	"cmp"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MayReport reports whether the caller may report on a task: its assignee and owners may.
func MayReport(u *unit.Unit, t parley.Task) bool { return t.Assignee == u.Me.ID || u.SeesAll() }

// ApplyChange applies a reported change to a task: its progress, its result, its end.
func ApplyChange(u *unit.Unit, t *parley.Task, c parley.TaskChange) error {
	if t.Status.Ended() {
		return EndedError(*t)
	}
	if c.Progress != nil {
		if err := keepProgress(u, t, *c.Progress); err != nil {
			return err
		}
	}
	how := Ending{Status: c.Status, own: t.Assignee == u.Me.ID}
	switch c.Status {
	case parley.TaskCompleted:
		if err := MustHaveNothingOpen(u, *t); err != nil {
			return err
		}
		how.outcome, how.result = c.Outcome, c.Result
		unit.SetDefault(&how.outcome, parley.OutcomeSuccess)
	case parley.TaskFailed:
		how.result, how.cause = c.Result, parley.Errorf(parley.DependencyFailed, "%s", c.Reason)
		unit.SetDefault(&how.cause.Message, "no reason was given")
	default:
		if err := setResult(u, t, c.Result); err != nil {
			return err
		}
		return ackRequest(u, *t)
	}
	return EndTask(u, *t, how) // its request is settled with it: see StopWork and endIfOutdated
}

// ackRequest acknowledges the request of a task on which its assignee reports without a run. From now on the state of the task shows what
// becomes of it, so the hub must not send the request again. For a person, the request stays in the inbox until the task ends.
func ackRequest(u *unit.Unit, t parley.Task) error {
	if u.Me.ID != t.Assignee || !polls(u.Me) || t.Message == "" {
		return nil
	}
	d, err := u.Deliveries().Get(t.Message, t.Assignee)
	if err != nil || !d.Open() {
		return unit.IgnoreNotFound(err)
	}
	return deliveries.SetState(u, &d, parley.DeliveryAcked, nil)
}

// polls reports whether an agent takes its messages itself: the hub does not run it, and no bridge moves its documents.
func polls(a parley.Agent) bool {
	return a.Kind == parley.KindAgent && !a.Dispatched() && a.Runtime != parley.RuntimeBridge
}

// EndedError is the error for a change of a task that has ended.
func EndedError(t parley.Task) error {
	next := "the requester can retry it: parley task retry " + t.ID
	if t.Status == parley.TaskCompleted {
		next = "request the rest as another task"
	}
	return parley.Errorf(parley.BadInput, "%s is %s already", t.ID, t.Status).Because(parley.Conflict).Suggest("%s", next)
}

// setResult stores the result that a task will end with.
func setResult(u *unit.Unit, t *parley.Task, r *parley.TaskResult) error {
	if r == nil {
		return nil
	}
	after := *t
	after.Result = r
	return tasks.Save(u, t, after)
}

// MustHaveNothingOpen refuses to complete a task that has open subtasks or waits for an approval.
func MustHaveNothingOpen(u *unit.Unit, t parley.Task) error {
	waits, err := tasks.WaitsOn(u, t)
	switch {
	case err != nil:
		return err
	case len(waits.Subtasks) > 0:
		return parley.Errorf(parley.BadInput, "%s has open subtasks: %s", t.ID, unit.Listed(waits.Subtasks)).Because(parley.Conflict).
			Suggest("wait for them, or cancel them first")
	case waits.Approval != "":
		return parley.Errorf(parley.BadInput, "%s waits for an approval: %s", t.ID, waits.Approval).Because(parley.Conflict).
			Suggest("wait until it is decided")
	default:
		return nil
	}
}

// keepProgress stores how far a task has come. Fields that are left out keep their values, except for blockers: without any the task is
// no longer blocked. The requester of a task that becomes blocked is told.
func keepProgress(u *unit.Unit, t *parley.Task, p parley.TaskProgress) error {
	waits, err := tasks.WaitsForOthers(u, *t)
	if err == nil && t.Status == parley.TaskQueued && !waits { // a task that depends on others is requested later
		err = tasks.SetState(u, t, parley.TaskActive, nil)
	}
	if err != nil {
		return err
	}
	blocked, before := t.Blocked(), t.Progress
	after := *t
	after.Progress = mergeProgress(before, p)
	after.Progress.At, after.Progress.Unreported = u.Now, before != nil && before.Unreported
	if err := tasks.Save(u, t, after); err != nil {
		return err
	}
	if err := tasks.NoteTask(u, parley.EventTaskProgress, *t); err != nil {
		return err
	}
	if inTree, err := reports.ReportProgress(u, t, before); err != nil || inTree || blocked || !t.Blocked() {
		return err
	}
	return tellBlocked(u, *t)
}

func mergeProgress(before *parley.TaskProgress, p parley.TaskProgress) *parley.TaskProgress {
	if before == nil {
		return &p
	}
	for _, pair := range [][2]**float64{{&p.Fraction, &before.Fraction}, {&p.Confidence, &before.Confidence}} {
		if *pair[0] == nil {
			*pair[0] = *pair[1]
		}
	}
	if p.Current == nil && p.Total == nil {
		p.Current, p.Total = before.Current, before.Total
	}
	unit.SetDefault(&p.Message, before.Message)
	p.Blockers = slices.Clip(p.Blockers)
	return &p
}

// tellBlocked tells the requester of a task that the task is blocked. It wakes people and polling agents only.
func tellBlocked(u *unit.Unit, t parley.Task) error {
	to, err := u.Agents().Find(t.Requester)
	if err != nil || to.RemovedAt != nil || to.ID == t.Assignee || to.ID == u.DocumentReader {
		return err
	}
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	where, err := reports.FindCallbackConversation(u, reports.Callback{To: to.ID, Conversation: cmp.Or(t.CallbackTo, t.Conversation), About: t.Assignee})
	if err != nil {
		return err
	}
	reach := parley.NewDelivery{Agent: to.ID, Wakes: !to.Dispatched()}
	if reach.Wakes {
		reach.Purpose = parley.PurposeTask
	}
	text := parley.Wording{}.Name(assignee.ID, assignee.Name).Own(" is blocked on "+t.ID+": ").Quote(assignee.ID, unit.Listed(t.Progress.Blockers))
	_, err = messages.PostAsHub(u, parley.Message{
		To: to.ID, Conversation: where, Type: parley.TypeStatus, Task: t.Parent, TraceID: t.TraceID,
	}, text, reach)
	return err
}

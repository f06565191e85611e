package hub

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// sourceResult is the source of the messages by which requesters learn how what they delegated has ended.
const sourceResult = "delegation_result"

// ending is how a task ends.
type ending struct {
	status  parley.TaskState
	outcome parley.TaskOutcome
	result  *parley.TaskResult
	cause   *parley.Error
	own     bool   // by its assignee's word, whose runs go on
	run     string // that ends with it by itself
	answer  string // the message that its last run has ended with
}

func failing(cause *parley.Error) ending { return ending{status: parley.TaskFailed, cause: cause} }

func cancelling(reason string) ending {
	message := "cancelled"
	if reason != "" {
		message += ": " + reason
	}
	return ending{status: parley.TaskCancelled, cause: parley.Errorf(parley.Unavailable, "%s", message)}
}

// endTask ends a task with all that follows from it, in one update: what is under it is cancelled unless it was
// completed, work on it is stopped, its requester is called back, and what depends on it goes on or has failed.
func (s *scene) endTask(t parley.Task, how ending) error {
	ended := []parley.Task{t}
	if err := s.endOne(&ended[0], how); err != nil {
		return err
	}
	if how.status != parley.TaskCompleted {
		under, err := s.cancelUnder(ended[0])
		if err != nil {
			return err
		}
		ended = append(ended, under...)
	}
	for i := range ended {
		if err := s.reportEnd(&ended[i]); err != nil {
			return err
		}
		if err := s.copyEnd(ended[i]); err != nil {
			return err
		}
		if err := s.askTaskEnded(ended[i], how.answer); err != nil {
			return err
		}
	}
	for _, t := range ended {
		if err := s.freeDependants(t); err != nil {
			return err
		}
	}
	return nil
}

// endOne ends one task, and the work on it.
func (s *scene) endOne(t *parley.Task, how ending) error {
	if t.Status == parley.TaskQueued && how.status == parley.TaskCompleted {
		if err := s.stepTask(t, parley.TaskActive, nil); err != nil {
			return err
		}
	}
	err := s.stepTask(t, how.status, func(t *parley.Task) {
		t.Outcome, t.Error = how.outcome, how.cause
		if how.result != nil {
			t.Result = how.result
		}
	})
	if err != nil {
		return err
	}
	return s.stopWork(*t, t.ID+" is "+string(t.Status), how)
}

// cancelUnder cancels what is open under a task that has ended without being completed.
func (s *scene) cancelUnder(t parley.Task) (ended []parley.Task, err error) {
	g, err := s.grove(t.ID)
	if err != nil {
		return nil, err
	}
	for _, sub := range g.under(t.ID) {
		if sub.Status.Ended() {
			continue
		}
		if err := s.endOne(&sub, cancelling(t.ID+" is "+string(t.Status))); err != nil {
			return nil, err
		}
		ended = append(ended, sub)
	}
	return ended, nil
}

// mostStopped bounds what one search for the deliveries of a task returns.
const mostStopped = 1000

// stopWork ends what is going on for a task: what its assignee wants approved, its runs, and what would wake its
// assignee for it. Who fetches for itself is told, and is not given again what it has in hand: see outdated.
func (s *scene) stopWork(t parley.Task, why string, how ending) error {
	if err := s.withdrawApprovalsIn(t.ID); err != nil {
		return err
	}
	runs, err := s.Runs().InTask(t.ID)
	for i := range runs {
		if r := &runs[i]; err == nil && r.Cancel == "" && r.ID != how.run && !how.own {
			err = s.cancel(r, why)
		}
	}
	if err != nil {
		return err
	}
	a, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	waiting, err := s.Queue().OfTask(a.ID, t.ID, mostStopped)
	if err == nil {
		err = s.settleShownTask(t, a)
	}
	done, begun := how.own || how.status == parley.TaskCompleted, t.StartedAt != nil
	for i := range waiting {
		d := &waiting[i]
		begun = begun || d.DeliveredAt != nil
		switch {
		case err != nil:
		case d.Lease != "": // who has it says what came of it, or it comes back: see outdated
		case done:
			err = s.move(d, parley.DeliveryAnswered, nil)
		default:
			err = s.drop(d, why)
		}
	}
	if err != nil || !begun || done {
		return err
	}
	return s.tellAssignee(t, a, why)
}

// settleShownTask settles the requests for an ended task that a person has seen.
func (s *scene) settleShownTask(t parley.Task, assignee parley.Agent) error {
	shown, err := s.shownAndWanted(assignee, parley.PurposeTask)
	for i := range shown {
		if err != nil {
			return err
		}
		var m parley.Message
		if m, err = s.Messages().Get(shown[i].Message); err == nil && m.Task == t.ID && shown[i].State == parley.DeliverySeen {
			err = s.move(&shown[i], parley.DeliveryAcked, nil)
		}
	}
	return err
}

// drop ends a delivery that nobody wants any more. Its sender knows.
func (s *scene) drop(d *parley.Delivery, why string) error {
	cause := parley.Errorf(parley.Unavailable, "%s", why)
	return s.move(d, parley.DeliveryFailed, func(d *parley.Delivery) { d.Failure = cause })
}

// tellAssignee lets somebody who works on a task without a run know that it need not any more.
func (s *scene) tellAssignee(t parley.Task, a parley.Agent, why string) error {
	if a.RemovedAt != nil || a.Dispatched() || t.Conversation == "" {
		return nil
	}
	text := parley.Own(why)
	if t.Error != nil {
		text = text.Own(": ").Quote("", strings.TrimPrefix(t.Error.Message, string(t.Status)+": "))
	}
	_, err := s.speak(parley.Message{
		To: a.ID, Conversation: t.Conversation, Type: parley.TypeStatus, Task: t.ID, TraceID: t.TraceID,
	}, text, parley.Reach{Agent: a.ID, Wakes: true, Purpose: parley.PurposeTask})
	return err
}

// reportEnd calls back whoever waits for a task that has ended. What has ended itself is not woken for it any more.
func (s *scene) reportEnd(t *parley.Task) error {
	if t.CallbackTo == "" || t.Callback != "" {
		return nil
	}
	to, purpose, err := s.calledBack(*t)
	if err != nil {
		return err
	}
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	hops, err := s.hopsTo(*t)
	if err != nil {
		return err
	}
	c := callback{
		to: to.ID, conversation: t.CallbackTo, about: t.Assignee, task: t.Parent, source: sourceResult, text: t.CallbackWording(assignee.Name),
		trace: t.TraceID, hops: hops, purpose: purpose,
	}
	if to.Runtime == parley.RuntimeBridge {
		if c, err = s.endDocument(*t, c); err != nil {
			return err
		}
	}
	m, err := s.callBack(c)
	if err != nil {
		return err
	}
	after := *t
	after.Callback = m.ID
	return s.keepTask(t, after)
}

// calledBack is who waits for a task: the assignee of the task it is under, or else its requester; and for what, where that
// has not ended.
func (s *scene) calledBack(t parley.Task) (to parley.Agent, purpose parley.Purpose, err error) {
	id, purpose := t.Requester, parley.PurposeCallback
	if t.Parent != "" {
		parent, err := s.Tasks().Get(t.Parent)
		if err != nil {
			return to, "", err
		}
		if id = parent.Assignee; parent.Status.Ended() {
			purpose = ""
		}
	}
	to, err = s.Agents().Find(id)
	return to, purpose, err
}

// hopsTo is how many automatic messages in a row have led to a task.
func (s *scene) hopsTo(t parley.Task) (int, error) {
	m, err := s.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		return 0, nil
	}
	return m.Hops, err
}

// taskSeen is called when somebody has begun with a request for work.
func (s *scene) taskSeen(d parley.Delivery) error {
	t, mine, err := s.taskBehind(d)
	if err != nil || !mine || t.Status != parley.TaskQueued {
		return err
	}
	if waits, err := s.waitsForOthers(t); err != nil || waits {
		return err
	}
	return s.stepTask(&t, parley.TaskActive, nil)
}

// taskDeliveryEnded is called when a delivery has ended in a failure: so has the task that it was for. Work that an
// agent was given for what woke it fails with that as well.
func (s *scene) taskDeliveryEnded(d parley.Delivery) error {
	if d.Failure != nil && errors.Is(d.Failure, parley.ErrDamagedRow) {
		return s.taskDamaged(d)
	}
	t, mine, err := s.taskBehind(d)
	if err != nil || !mine {
		return err
	}
	how := failing(parley.Errorf(parley.DependencyFailed, "it failed"))
	if d.Failure != nil {
		how.cause = because(*d.Failure, d.Recipient)
	}
	how.run = d.Run
	return s.endTask(t, how)
}

// because is the cause of a failure without the name of whoever has failed.
func because(cause parley.Error, who string) *parley.Error {
	cause.Message = reason(&cause, who)
	return &cause
}

// taskBehind is the open task of its recipient that a delivery is for.
func (s *scene) taskBehind(d parley.Delivery) (t parley.Task, mine bool, err error) {
	var id string
	if d.Purpose == "" {
		id, err = s.givenFor(d)
	} else {
		var m parley.Message
		m, err = s.Messages().Get(d.Message)
		if id = m.Task; m.Damage != nil || errors.Is(err, parley.ErrNotFound) {
			id, err = s.taskBegunBy(d.Message)
		}
	}
	if err != nil || id == "" {
		return t, false, err
	}
	t, mine, err = s.taskAt(parley.Run{Task: id, Agent: d.Recipient})
	if err != nil || !mine || t.Attempt == 1 {
		return t, mine, err
	}
	request, err := s.Messages().Get(t.Message)
	return t, d.Seq >= request.Seq, ignoreNotFound(err) // what is older was for an earlier attempt
}

// outdated ends a delivery that comes back and asks for what is not wanted any more, and says whether it was such a
// one: its task has ended, was given to another, or is asked for anew. What only tells of a task is never too late.
func (s *scene) outdated(d *parley.Delivery) (bool, error) {
	if d.Purpose != parley.PurposeTask && d.Purpose != parley.PurposeCallback {
		return false, nil
	}
	m, err := s.Messages().Get(d.Message)
	if err != nil || m.Task == "" || m.Type == parley.TypeStatus || m.Source == sourceAsk || m.Source == sourceResult && m.From != parley.System {
		return false, ignoreNotFound(err) // what has no id any more is damaged, and ends when it is taken
	}
	t, mine, err := s.taskBehind(*d)
	switch {
	case err != nil || mine:
		return false, err
	case t.Assignee != d.Recipient:
		return true, s.drop(d, m.Task+" was given to "+t.Assignee)
	case t.Status == parley.TaskCompleted:
		return true, s.move(d, parley.DeliveryAnswered, nil)
	default:
		return true, s.drop(d, m.Task+" is "+string(t.Status))
	}
}

// endTasksOf fails the open tasks of a participant that was removed.
func (s *scene) endTasksOf(a parley.Agent) error {
	list, err := s.Tasks().Assigned(a.ID)
	if err != nil {
		return err
	}
	for _, t := range list {
		if t, err = s.Tasks().Get(t.ID); err == nil && !t.Status.Ended() { // it may have ended with another
			err = s.endTask(t, failing(parley.Errorf(parley.Unavailable, "removed")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whyDeleted is why something ends with the conversation that it was in.
const whyDeleted = "its conversation was deleted"

// workIn are the open tasks that were asked for in a conversation, or that the runs in it are in.
func (s *scene) workIn(conversation string, runs []parley.Run) (ids []string, err error) {
	open, err := s.Tasks().List(parley.TaskFilter{Open: true, Limit: math.MaxInt32}, "")
	for _, t := range open {
		if t.Conversation == conversation || slices.ContainsFunc(runs, func(r parley.Run) bool { return r.Task == t.ID }) {
			ids = append(ids, t.ID)
		}
	}
	return ids, err
}

// endWork fails those of some tasks that nothing goes on for, now that their conversation is gone.
func (s *scene) endWork(ids []string) error {
	for _, id := range ids {
		t, err := s.Tasks().Get(id)
		if err != nil {
			return err
		}
		if !t.Status.Ended() { // it may have ended with another
			err = s.failUnlessOn(t, parley.Errorf(parley.Unavailable, whyDeleted).Suggest("have it done again"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// RetryTask queues a task again that has failed or was cancelled: its assignee is asked again.
func (h *Hub) RetryTask(ctx context.Context, caller Caller, id string) (parley.TaskView, error) {
	return h.directTask(ctx, caller, opRetryTask, taskArgs{Task: id, Act: retriesTask})
}

func (s *scene) retryTask(o origin, t *parley.Task) error {
	if err := s.mustDirect(*t, "have it done again"); err != nil {
		return err
	}
	if !t.Status.Ended() {
		return parley.Errorf(parley.BadInput, "%s is %s", t.ID, t.Status).Because(parley.Conflict).
			Suggest("wait until it has ended, cancel it, or give it to somebody else")
	}
	to, err := s.agent(t.Assignee)
	if err == nil {
		err = s.mayHandOver(o, to)
	}
	if err != nil {
		return err
	}
	return s.giveAgain(t, to)
}

// ReassignTask gives a task to somebody else. What its assignee is doing for it ends; what is under it goes on.
func (h *Hub) ReassignTask(ctx context.Context, caller Caller, id, assignee string) (parley.TaskView, error) {
	return h.directTask(ctx, caller, opReassignTask, taskArgs{Task: id, Act: reassignsTask, Assignee: assignee})
}

func (s *scene) reassignTask(o origin, t *parley.Task, assignee string) error {
	if err := s.mustDirect(*t, "give it to somebody else"); err != nil {
		return err
	}
	to, err := s.agent(assignee)
	switch {
	case err != nil:
		return err
	case to.Kind == parley.KindSystem:
		return toSystem(to.ID)
	case to.ID == t.Assignee && !t.Status.Ended():
		return parley.Errorf(parley.BadInput, "%s is at %s already", to.ID, t.ID).Suggest("name somebody else")
	}
	if err := s.mayHandOver(o, to); err != nil {
		return err
	}
	return s.giveAgain(t, to)
}

// mayHandOver is mayCall for somebody who is given a task, which one may take oneself.
func (s *scene) mayHandOver(o origin, to parley.Agent) error {
	if to.ID == s.me.ID {
		return nil
	}
	return s.mayCall(o, to)
}

// mustDirect refuses everybody but those who say who does a task: who asked for it, its assignee's manager, and owners.
func (s *scene) mustDirect(t parley.Task, act string) error {
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil || t.Requester == s.me.ID || s.me.ID == assignee.Manager || s.seesAll() {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s may not %s: %s was asked for by %s", s.me.ID, act, t.ID, t.Requester).
		Suggest("ask %s, the manager of %s, or an owner of this hub", t.Requester, t.Assignee)
}

// giveAgain queues a task for an assignee, who is asked for it by a message of its own.
func (s *scene) giveAgain(t *parley.Task, to parley.Agent) error {
	if t.Status == parley.TaskCompleted {
		return endedAlready(*t)
	}
	err := s.mayTake(*t, to)
	if err != nil {
		return err
	}
	_, asked, err := s.askOf(t.ID) // then its end is told by the ask
	if err != nil {
		return err
	}
	before, handed := *t, *t
	place := t.Conversation // where no answer may stand any more
	if handed.Assignee = to.ID; place == "" && (to.ID != t.Requester || t.Parent != "") {
		if place, err = s.requestPlace(handed); err != nil {
			return err
		}
	}
	again := func(t *parley.Task) {
		if to.ID != t.Assignee {
			t.Assignee, t.Conversation = to.ID, ""
		}
		if !asked {
			callBackTo(t, place)
		}
		t.Attempt++
		if t.Deadline != nil && !t.Deadline.After(s.now) {
			t.Deadline = nil // it would fail at once
		}
	}
	if t.Status == parley.TaskQueued { // nobody has begun: it stays
		after := *t
		again(&after)
		err = s.keepTask(t, after)
		if err == nil {
			err = s.noteTask(parley.EventTask(t.Status), *t)
		}
	} else {
		err = s.stepTask(t, parley.TaskQueued, again)
	}
	// Only now: what ends for somebody whose task it is not any more does not end the task.
	if err == nil && !before.Status.Ended() {
		err = s.stopWork(before, t.ID+" was given to "+to.ID, ending{status: parley.TaskQueued})
	}
	if err != nil {
		return err
	}
	return s.offer(t)
}

// mayTake says why somebody cannot be given a task now, or nil.
func (s *scene) mayTake(t parley.Task, to parley.Agent) error {
	if to.ID != t.Assignee {
		if err := s.mustReach(to); err != nil { // who is given it is asked alone
			return err
		}
	}
	if to.ID != t.Requester {
		if err := s.available(to, parley.PatternDelegate); err != nil {
			return err
		}
	}
	if t.Parent != "" && t.Status.Ended() {
		parent, err := s.Tasks().Get(t.Parent)
		if err != nil {
			return err
		}
		if parent.Status.Ended() {
			return parley.Errorf(parley.BadInput, "%s is under %s, which is %s", t.ID, parent.ID, parent.Status).Because(parley.Conflict).
				Suggest("have that done again first: parley task retry %s", parent.ID)
		}
	}
	needed, err := s.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		if n.Status == parley.TaskFailed || n.Status == parley.TaskCancelled {
			return notCompleted(n)
		}
	}
	return err
}

// offer asks the assignee of a queued task for it, unless it waits for others: by the request that was kept back while
// it did, or by another.
func (s *scene) offer(t *parley.Task) error {
	if waits, err := s.waitsForOthers(*t); err != nil || waits {
		return err
	}
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	if own := t.Assignee == t.Requester; own && t.Assignee == s.me.ID && !assignee.Dispatched() {
		return s.stepTask(t, parley.TaskActive, nil) // it knows
	}
	if t.Message == "" || t.Attempt > 1 { // the first request may be for another
		return s.requestAgain(t)
	}
	m, err := s.Messages().Get(t.Message)
	if errors.Is(err, parley.ErrNotFound) {
		return s.requestAgain(t)
	}
	if err == nil {
		_, err = s.deliver(m, []parley.Reach{{Agent: t.Assignee, Wakes: true, Purpose: parley.PurposeTask}})
	}
	return err
}

// callBackTo has the end of a task told in a conversation, unless it has its place already, or nobody waits for it but
// who does it.
func callBackTo(t *parley.Task, where string) {
	if t.Assignee == t.Requester && t.Parent == "" {
		t.CallbackTo = ""
		return
	}
	setDefault(&t.CallbackTo, where)
}

// requestAgain posts the request for a task once more, for its assignee of now. It is the hub's: nobody has sent it.
func (s *scene) requestAgain(t *parley.Task) error {
	request, text, err := s.requestOf(*t)
	if err != nil {
		return err
	}
	where, err := s.requestPlace(*t)
	if err != nil {
		return err
	}
	request.To, request.Conversation, request.Type = t.Assignee, where, parley.TypeTask
	request.Task, request.TraceID, request.Source = t.ID, t.TraceID, sourceContact
	first, err := s.firstRequest(*t)
	if err != nil {
		return err
	}
	if first.Conversation == where {
		request.InReplyTo = first.ID
	}
	if first.ID != "" {
		if request.Metadata, err = json.Marshal(repetition{first.ID}); err != nil {
			return err
		}
	}
	m, err := s.speak(request, text, parley.Reach{Agent: t.Assignee, Wakes: true, Purpose: parley.PurposeTask})
	if err != nil {
		return err
	}
	_, asked, err := s.askOf(t.ID)
	if err != nil {
		return err
	}
	after := *t
	after.Message, after.Conversation = m.ID, where
	if !asked {
		callBackTo(&after, where)
	}
	if err := s.keepTask(t, after); err != nil {
		return err
	}
	return s.needsTask(*t)
}

// repetition says in the metadata of a request that the hub repeats which one it was at first.
type repetition struct {
	Repeats string `json:"repeats,omitempty"`
}

// firstRequest is the message that a task was first asked for with, if there was one and it is kept.
func (s *scene) firstRequest(t parley.Task) (m parley.Message, err error) {
	if t.Message == "" {
		return m, nil
	}
	if m, err = s.Messages().Get(t.Message); err == nil && m.From == parley.System {
		var said repetition
		_ = json.Unmarshal(m.Metadata, &said) // which may have been redacted
		m, err = s.Messages().Get(cmp.Or(said.Repeats, m.InReplyTo))
	}
	if err != nil {
		return parley.Message{}, ignoreNotFound(err)
	}
	return m, nil
}

// requestOf is what a task was asked for with. What the hub repeats says whose words these are.
func (s *scene) requestOf(t parley.Task) (m parley.Message, text parley.Wording, err error) {
	first, err := s.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		first, err = parley.Message{Content: parley.Content{Text: t.Title}}, nil
	}
	if err != nil {
		return m, text, err
	}
	if first.Damage != nil { // its words are lost
		first.Content.Text = t.Title + "\n\n" + first.Damage.Message
	}
	m.Content, m.Payload, m.Hops = first.Content, first.Payload, first.Hops
	said := cmp.Or(m.Content.Text, t.Title)
	if first.Source == sourceContact {
		return m, text.Quote(t.Requester, said), nil // it begins with that
	}
	requester, err := s.Agents().Find(t.Requester)
	header := parley.Contact{Pattern: parley.PatternDelegate, Priority: t.Priority}.Header(requester, t.ID)
	return m, header.Own("\n\n").Quote(t.Requester, said), err
}

// requestPlace is where the assignee of a task is asked for it: where it was given the task, or in the DM with the
// requester, or, if that is gone or is itself, with the hub.
func (s *scene) requestPlace(t parley.Task) (string, error) {
	where, err := s.Conversations().Find(t.Conversation)
	if err == nil {
		if in, err := s.takesPart(where, t.Assignee); err != nil || in {
			return where.ID, err
		}
	} else if t.Conversation != "" && !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	requester, err := s.Agents().Find(t.Requester)
	if err != nil {
		return "", err
	}
	if requester.RemovedAt != nil || requester.ID == t.Assignee {
		requester.ID = parley.System
	}
	dm, err := s.dm(requester.ID, t.Assignee)
	return dm.ID, err
}

// reviveTask takes up the task again that failed with a dead letter, which its assignee is about to get once more.
func (s *scene) reviveTask(d parley.Delivery) error {
	m, err := s.Messages().Get(d.Message)
	if err != nil || m.Task == "" || d.Purpose == "" {
		return err
	}
	t, err := s.Tasks().Get(m.Task)
	if err != nil || t.Status != parley.TaskFailed || t.Assignee != d.Recipient {
		return ignoreNotFound(err)
	}
	assignee, err := s.agent(t.Assignee)
	if err == nil {
		err = s.mayTake(t, assignee)
	}
	if err == nil {
		err = s.stepTask(&t, parley.TaskQueued, func(t *parley.Task) {
			if t.Attempt++; t.Source == parley.TaskFromAsk { // whose ask is over
				callBackTo(t, t.Conversation)
			}
		})
	}
	if err != nil || d.Purpose == parley.PurposeTask {
		return err
	}
	return s.stepTask(&t, parley.TaskActive, nil)
}

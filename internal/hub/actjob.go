package hub

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
)

// job is what a message on its way into the store does to a task: it asks for it, or says something of it.
type job struct {
	task parley.Task
	asks bool
	says parley.TaskChange
}

// jobOf finds out what a message does to a task, as the calls do: a task that it asks for is made. What does not
// count is left aside, and the sender is told.
func (s *scene) jobOf(p post, m *parley.Message, parent *parley.Message, where parley.Conversation, r *parley.Receipt) (*job, error) {
	if err := s.belong(p, m); err != nil || p.deed == nil || p.request || p.answers {
		return nil, err
	}
	if p.deed.asks != nil {
		return s.askedBy(p, m, where, r)
	}
	t, found, err := s.linked(p, m, parent)
	if err != nil || !found {
		return nil, err
	}
	if p.deed.quiet && (s.me.Dispatched() || t.Assignee != s.me.ID || t.Status.Ended()) {
		return nil, nil
	}
	if why := s.mayAct(t, *p.deed.says); why != nil {
		r.Notices = append(r.Notices, fmt.Sprintf("%s was not changed: %s", t.ID, parley.AsError(why).Message))
		return nil, nil
	}
	m.Task = t.ID
	return &job{task: t, says: *p.deed.says}, nil
}

// belong says which task a message belongs to: that of a request, that of the run whose answer it is, or the one that
// its sender names, who must see it.
func (s *scene) belong(p post, m *parley.Message) error {
	switch {
	case p.task != "":
		m.Task = p.task
	case p.answers:
		m.Task = p.by.Task
	case p.draft.Task != "":
		t, err := s.task(p.draft.Task)
		m.Task = t.ID
		return err
	}
	return nil
}

// linked is the task that a message says something of: the one it names, or that of the message it answers.
func (s *scene) linked(p post, m, parent *parley.Message) (t parley.Task, found bool, err error) {
	switch {
	case m.Task != "":
		t, err = s.Tasks().Get(m.Task)
	case parent == nil || p.deed.quiet && parent.Task == "":
		return t, false, nil
	default:
		t, err = s.taskOfMessage(*parent)
	}
	if errors.Is(err, parley.ErrNotFound) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	sees, err := s.seesTask(t)
	return t, sees, err
}

// mayAct says why what the caller says of a task does not count, or nil.
func (s *scene) mayAct(t parley.Task, c parley.TaskChange) error {
	switch {
	case !s.speaksFor(t):
		return parley.Errorf(parley.NotPermitted, "only the word of %s counts", t.Assignee)
	case t.Status.Ended():
		return parley.Errorf(parley.BadInput, "it is %s already", t.Status)
	case c.Status == parley.TaskCompleted:
		return s.mustBeFree(t)
	default:
		return nil
	}
}

// askedBy makes the task that a message asks one participant for. A message that is for nobody in particular, or for
// several, asks for none.
func (s *scene) askedBy(p post, m *parley.Message, where parley.Conversation, r *parley.Receipt) (*job, error) {
	to := m.To
	if others := m.Addressees(where); to == "" && where.FixedMembers() && len(others) == 1 {
		to = others[0]
	}
	if to == "" || to == parley.All {
		return nil, nil
	}
	assignee, err := s.agent(to)
	if err != nil {
		return nil, err
	}
	o := origin{caller: Caller{Agent: s.me.ID, Source: p.source, Run: p.run}, run: p.by, approved: p.approved, work: p.deed.work}
	if err := s.mayCall(o, assignee); err != nil { // also where it may answer, whatever the rules say
		return nil, err
	}
	o.work.source = p.source
	if !s.seesAll() || s.resolve(&o.work.original) != nil {
		o.work.original = "" // nobody speaks for another, and for nobody here
	}
	if reads, err := s.readsIn(assignee, where); err != nil || !reads {
		return nil, errors.Join(err, s.mustReach(assignee))
	}
	if err := s.available(assignee, parley.PatternDelegate); err != nil {
		return nil, err
	}
	t, err := s.newTask(&o, assignee, *p.deed.asks)
	if err != nil {
		return nil, err
	}
	r.Notices = append(r.Notices, o.work.notices...)
	m.Task, m.Deadline = t.ID, nil // the task has it
	return &job{task: t, asks: true}, s.Tasks().Insert(t)
}

// forTask gives those whom a message reaches what it is for: work for the assignee, once nothing else is left to wait
// for. Who is called back because of it is not woken by it, nor is anybody by news of how it goes.
func (s *scene) forTask(j *job, p post, m parley.Message, to []parley.Reach) ([]parley.Reach, error) {
	switch {
	case j != nil && j.asks:
		for i := range to {
			if to[i].Agent == j.task.Assignee {
				to[i].Wakes, to[i].Purpose = true, parley.PurposeTask
			}
		}
	case j != nil && (j.says.Status.Ended() && j.task.CallbackTo != "" || m.Type == typeStatusUpdate):
		return s.toldLater(*j, to)
	case p.purpose != parley.PurposeTask || m.Task == "":
		return to, nil
	}
	t, err := s.Tasks().Get(m.Task)
	if err != nil {
		return to, err
	}
	waits, err := s.waitsForOthers(t)
	if waits {
		to = slices.DeleteFunc(to, func(r parley.Reach) bool { return r.Purpose == parley.PurposeTask })
	}
	return to, err
}

// toldLater lets news of a task not wake its requester. Who lives in a tree does not even get it where it is the end: it is told
// of that by a document of its own.
func (s *scene) toldLater(j job, to []parley.Reach) ([]parley.Reach, error) {
	requester, err := s.Agents().Find(j.task.Requester)
	if err != nil {
		return to, err
	}
	if j.says.Status.Ended() && requester.Runtime == parley.RuntimeBridge {
		return slices.DeleteFunc(to, func(r parley.Reach) bool { return r.Agent == requester.ID }), nil
	}
	for i := range to {
		if to[i].Agent == requester.ID {
			to[i].Wakes, to[i].Purpose = false, ""
		}
	}
	return to, nil
}

// do does what a stored message is for.
func (s *scene) do(j *job, m parley.Message, tree *parley.Bridge) error {
	if j == nil {
		return nil
	}
	if j.asks {
		return s.requested(j.task, m)
	}
	t, err := s.Tasks().Get(j.task.ID) // which the answer may have begun
	if err != nil {
		return err
	}
	if j.says.Status.Ended() {
		if err := s.toldInTree(&t, m, tree); err != nil {
			return err
		}
	}
	return s.reportedBy(&m).sayOfTask(&t, j.says)
}

// toldInTree has the document by which a task ends be the callback to a requester who reads it in its inbox, or in the same channel
// of the same tree: another one would say it twice.
func (s *scene) toldInTree(t *parley.Task, m parley.Message, tree *parley.Bridge) error {
	if tree == nil || t.CallbackTo == "" {
		return nil
	}
	to, _, err := s.calledBack(*t)
	if err != nil {
		return err
	}
	reads := s.finder == to.ID
	if !reads && m.Conversation == t.CallbackTo && tree.Layout == parley.LayoutAgentOS {
		_, reads, err = s.livesIn(*tree, to.ID)
	}
	if err != nil || !reads {
		return err
	}
	after := *t
	after.Callback = m.ID
	return s.keepTask(t, after)
}

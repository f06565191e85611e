package hub

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

// work is what is asked for, beside what a contact says.
type work struct {
	title    string // default: the first line of what is said
	parent   string // default: the task of what asks
	reason   string // for choosing the assignee
	original string // who has asked for all of it
	source   string
	lenient  bool // what it depends on may be unknown
	notices  []string
}

// delegate hands work to another participant, inside the update of the contact.
func (s *scene) delegate(o origin, target parley.Agent, c parley.Contact) (parley.Contacted, error) {
	o.work.source = parley.TaskFromDelegation
	if s.me.Kind != parley.KindAgent {
		o.work.source = o.caller.Source
	}
	t, err := s.newTask(&o, target, c)
	if err != nil {
		return parley.Contacted{}, err
	}
	if err := s.Tasks().Insert(t); err != nil { // before the request, which says its number
		return parley.Contacted{}, err
	}
	receipt, err := s.request(o, target, c, t.ID)
	if err != nil {
		return parley.Contacted{}, err
	}
	made := delegated(target, receipt.Message, t.ID)
	made.Notices = receipt.Notices
	return made, s.requested(t, receipt.Message)
}

// requested notes by which message a task was asked for.
func (s *scene) requested(t parley.Task, m parley.Message) error {
	after := t
	after.Message, after.Conversation, after.TraceID = m.ID, m.Conversation, m.TraceID
	setDefault(&after.CallbackTo, m.Conversation)
	if err := s.keepTask(&t, after); err != nil {
		return err
	}
	if err := s.noteTask(parley.EventTask(t.Status), t); err != nil {
		return err
	}
	return s.needsTask(t)
}

// newTask is the task that a contact asks for, queued and not stored.
func (s *scene) newTask(o *origin, assignee parley.Agent, c parley.Contact) (t parley.Task, err error) {
	parent, err := s.parentOf(*o)
	if err != nil {
		return t, err
	}
	deadline, err := s.deadline(parley.Draft{Deadline: c.Deadline})
	if err != nil {
		return t, err
	}
	n, err := s.dependsOn(c.After, o.work.lenient)
	if err == nil {
		err = s.mustNotCircle(parent, n)
	}
	if err != nil {
		return t, err
	}
	o.work.notices = n.notices
	t = parley.Task{
		Title: parley.TitleOf(o.work.title), Requester: s.me.ID, OriginalRequester: s.me.ID, Assignee: assignee.ID,
		DelegationReason: o.work.reason, Source: o.work.source, Priority: c.Priority, Deadline: deadline, DependsOn: n.ids,
		Status: parley.TaskQueued, Attempt: 1, CreatedAt: s.now, UpdatedAt: s.now, CallbackTo: o.conversation(),
	}
	setDefault(&t.Title, parley.TitleOf(c.Message))
	if o.work.original != "" {
		t.OriginalRequester = o.work.original
	}
	if !t.Priority.Given() {
		t.Priority = parley.DefaultPriority
	}
	if t.ID, err = s.Tasks().NextID(); err != nil {
		return t, err
	}
	trace, err := s.mayJoinTrace(o.caller.Trace, "")
	if err != nil {
		return t, err
	}
	t.Root, t.TraceID = t.ID, cmp.Or(trace, t.ID)
	return t, s.hangUnder(&t, parent)
}

// conversation is where a call comes from, or nothing if that is outside of all runs.
func (o origin) conversation() string {
	switch {
	case o.run != nil:
		return o.run.Conversation
	case o.approved != nil:
		return o.approved.Conversation
	default:
		return ""
	}
}

// hangUnder puts a new task under another.
func (s *scene) hangUnder(t, parent *parley.Task) error {
	if parent == nil {
		return nil
	}
	if parent.Status.Ended() {
		return parley.Errorf(parley.DependencyFailed, "%s is %s: nothing more can be under it", parent.ID, parent.Status).
			Suggest("have it done again, or ask for this outside of it")
	}
	t.Parent, t.Root, t.Depth, t.OriginalRequester = parent.ID, parent.Root, parent.Depth+1, parent.OriginalRequester
	setDefault(&t.CallbackTo, parent.Conversation)
	t.Deadline = sooner(t.Deadline, parent.Deadline)
	if t.Depth > parley.MaxTaskDepth {
		return parley.Errorf(parley.DependencyFailed, "a task under %s would be %d deep, the limit is %d", parent.ID, t.Depth, parley.MaxTaskDepth).
			Suggest("do it in this task, or have somebody further up delegate it")
	}
	open, err := s.Tasks().OpenUnder(t.Root)
	if err != nil || open < parley.MaxTasksOpen {
		return err
	}
	return parley.Errorf(parley.DependencyFailed, "%d tasks under %s are open, the limit is %d", open, t.Root, parley.MaxTasksOpen).
		Suggest("wait until some of them have ended")
}

// parentOf is the task that a new one is to be under, or nil.
func (s *scene) parentOf(o origin) (*parley.Task, error) {
	if o.work.parent == "" {
		return s.taskOf(o)
	}
	t, err := s.task(o.work.parent)
	if err != nil {
		return nil, err
	}
	if t.Assignee != s.me.ID && !s.seesAll() {
		return nil, parley.Errorf(parley.NotPermitted, "%s is not for %s to divide up", t.ID, s.me.ID).Suggest("ask %s to", t.Assignee)
	}
	return &t, nil
}

// taskOf is the task of what a call comes from: that of its run, which is given one if it has none. Outside of runs
// there is none.
func (s *scene) taskOf(o origin) (*parley.Task, error) {
	id := ""
	switch {
	case o.run != nil:
		id = o.run.Task
	case o.approved != nil:
		id = o.approved.Task
	}
	if id != "" {
		t, err := s.Tasks().Get(id)
		if err != nil || t.Assignee == s.me.ID {
			return &t, err
		}
	}
	if o.run == nil {
		return s.taskOfHeld(o)
	}
	return s.giveTask(o.run)
}

// taskOfHeld is the task of the run that made a held call. If the run has none it gets one, even after its end: the call
// goes on in that task.
func (s *scene) taskOfHeld(o origin) (*parley.Task, error) {
	if o.approved == nil || o.approved.Run == "" {
		return nil, nil
	}
	r, err := s.Runs().Get(o.approved.Run)
	if err != nil {
		return nil, ignoreNotFound(err) // its conversation was deleted
	}
	if t, mine, err := s.taskAt(r); err != nil || mine {
		return &t, err
	}
	return s.giveTask(&r)
}

// giveTask gives a run a task of its own for what has woken it: the one that an earlier attempt was given, or a new one.
func (s *scene) giveTask(r *parley.Run) (*parley.Task, error) {
	earlier, err := s.earlier(*r)
	if err != nil {
		return nil, err
	}
	t, found := parley.Task{}, false
	for _, other := range earlier {
		if t, found, err = s.taskAt(other); err != nil || found {
			break
		}
	}
	if err == nil && !found {
		t, err = s.makeTaskFor(*r)
	}
	if err != nil {
		return nil, err
	}
	after := *r
	after.Task = t.ID
	if err := s.keepRun(r, after); err != nil {
		return nil, err
	}
	if err := s.park(*r, t); err != nil {
		return nil, err
	}
	return &t, s.heldIn(t, append(earlier, *r))
}

// makeTaskFor makes the task of what has woken a run.
func (s *scene) makeTaskFor(r parley.Run) (t parley.Task, err error) {
	t = parley.Task{
		Title: "a run of " + r.Agent, Requester: r.Agent, Assignee: r.Agent, Source: sourceRun, Priority: parley.DefaultPriority, TraceID: r.TraceID,
		Conversation: r.Conversation, Status: parley.TaskActive, Attempt: 1, CreatedAt: s.now, UpdatedAt: s.now, StartedAt: &s.now,
	}
	if n := len(r.Triggers); n > 0 {
		if err := s.begunBy(&t, r.Triggers[n-1]); err != nil {
			return t, err
		}
	}
	t.OriginalRequester = t.Requester
	if t.ID, err = s.Tasks().NextID(); err != nil {
		return t, err
	}
	t.Root = t.ID
	return t, s.addTask(t)
}

// begunBy fills in what a task has of the message that has woken its assignee.
func (s *scene) begunBy(t *parley.Task, trigger string) error {
	m, err := s.Messages().Get(trigger)
	if errors.Is(err, parley.ErrNotFound) {
		return nil // it was not kept that long
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
	d, err := s.Deliveries().Get(m.ID, t.Assignee)
	if err == nil && d.Purpose == parley.PurposeAsk {
		t.Source = parley.TaskFromAsk
	}
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

// ownTask makes a task that the caller has set itself, unless it has made it by the same call before: with the same
// key, or in an earlier attempt of the run.
func (s *scene) ownTask(o origin, c parley.Contact) (id string, err error) {
	key := c.IdempotencyKey
	if key != "" {
		id, err = s.keyed(key)
	} else if o.run != nil {
		key, id, err = s.attempted(o, c)
	}
	switch {
	case err != nil:
		return "", err
	case parley.IsUUID(id):
		return "", usedOtherwise(key)
	case id == "":
		id, err = s.beginOwn(o, c)
	case key == c.IdempotencyKey:
		return id, nil
	}
	if err == nil && key != "" {
		err = s.Messages().Key(s.me.ID, key, id, s.now)
	}
	return id, err
}

// attempted is the task that an earlier attempt of the run has made by the same call, and the key by which a later one
// finds it. A call that was made twice is repeated twice.
func (s *scene) attempted(o origin, c parley.Contact) (key, id string, err error) {
	c.Agent = s.me.ID
	call, err := callDigest([]any{c, o.work.title, o.work.parent, o.work.reason})
	if err != nil {
		return "", "", err
	}
	keyIn := func(r parley.Run, n int) string { return fmt.Sprintf("run/%s/%s/%d", r.ID, call, n) }
	mine := 0
	for {
		key = keyIn(*o.run, mine)
		if id, err = s.keyed(key); err != nil || id == "" {
			break
		}
		mine++
	}
	if err != nil {
		return "", "", err
	}
	earlier, err := s.earlier(*o.run)
	for _, other := range earlier {
		if err == nil && id == "" {
			id, err = s.keyed(keyIn(other, mine))
		}
	}
	return key, id, err
}

// beginOwn makes a task of the caller's own, which begins at once, unless it waits for others.
func (s *scene) beginOwn(o origin, c parley.Contact) (id string, err error) {
	o.work.source = o.caller.Source
	t, err := s.newTask(&o, s.me, c)
	if err != nil {
		return "", err
	}
	callBackTo(&t, "")
	t.Conversation = t.CallbackTo
	if err := s.addTask(t); err != nil {
		return "", err
	}
	if waits, err := s.waitsForOthers(t); err != nil || waits {
		return t.ID, err
	}
	return t.ID, s.stepTask(&t, parley.TaskActive, nil)
}

// sooner is the earlier of two deadlines.
func sooner(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

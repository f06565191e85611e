package hub

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-hub/parley"
)

// NewTask makes a task for somebody, by the same rules as a delegation, or for the caller itself.
func (h *Hub) NewTask(ctx context.Context, caller Caller, n parley.NewTask) (view parley.TaskView, err error) {
	if err := n.Check(h.config.Limits); err != nil {
		return view, err
	}
	if n.Assignee != "" { // else nothing is sent
		c, err := h.checkContact(ctx, caller, opMakeTask, asContact(n))
		if err != nil {
			return view, err
		}
		n.Artifacts = c.Artifacts
	}
	if n.DependsOn, err = h.findNeeded(ctx, caller, opMakeTask, n.DependsOn); err != nil {
		return view, err
	}
	err = h.update(ctx, caller, opMakeTask, func(s *scene) error {
		o, err := s.origin(caller)
		if err != nil {
			return err
		}
		made, err := s.askForTask(o, n)
		if err != nil {
			return err
		}
		view, err = s.showTask(made.Task)
		view.Notices, view.UnknownMentions = made.Notices, s.unknown
		return err
	})
	view.Notices = append(view.Notices, h.aboutUnknown(ctx, view.UnknownMentions)...)
	n.Assignee = heldTarget(err, n.Assignee)
	return view, h.heldOr(ctx, caller, err, toolNewTask, n)
}

func (s *scene) askForTask(o origin, n parley.NewTask) (parley.Contacted, error) {
	o.work = work{title: n.Title, parent: n.Parent, reason: n.DelegationReason}
	return s.makeTask(o, asContact(n))
}

// asContact is the contact that a new task is for its assignee.
func asContact(n parley.NewTask) parley.Contact {
	c := parley.Contact{
		Pattern: parley.PatternDelegate, Agent: n.Assignee, Message: n.Text, Priority: n.Priority, Deadline: n.Deadline, After: n.DependsOn,
		Artifacts: n.Artifacts, IdempotencyKey: n.IdempotencyKey,
	}
	setDefault(&c.Message, n.Title)
	return c
}

// makeTask makes the task that a contact asks for, of the caller itself if it names nobody else.
func (s *scene) makeTask(o origin, c parley.Contact) (made parley.Contacted, err error) {
	own := c.Agent == ""
	if !own {
		a, err := s.agent(c.Agent)
		if err != nil {
			return made, err
		}
		own = a.ID == s.me.ID
	}
	if own {
		made.Task, err = s.ownTask(o, c)
		return made, err
	}
	made, _, err = s.contact(o, c)
	return made, err
}

// showTask is a task as the caller sees it, by its id.
func (s *scene) showTask(id string) (parley.TaskView, error) {
	t, err := s.Tasks().Get(id)
	if err != nil {
		return parley.TaskView{}, err
	}
	return s.viewer().view(t)
}

// onTask does something to a task, and shows what has become of it.
func (h *Hub) onTask(ctx context.Context, caller Caller, do op, id string, change func(*scene, *parley.Task) error) (view parley.TaskView, err error) {
	err = h.update(ctx, caller, do, func(s *scene) error {
		t, err := s.taskToChange(caller, id)
		if err != nil {
			return err
		}
		if err := change(s, &t); err != nil {
			return err
		}
		view, err = s.showTask(t.ID)
		return err
	})
	return view, err
}

// taskToChange finds a task that the caller may see, or whose assignee it manages. Without an id: the task of the
// caller's run.
func (s *scene) taskToChange(caller Caller, id string) (parley.Task, error) {
	if id == "" {
		r, err := s.liveRunOf(caller)
		if err != nil {
			return parley.Task{}, err
		}
		id = r.Task
	}
	if id == "" {
		return parley.Task{}, parley.Errorf(parley.BadInput, "no task is named, and the call comes from none").Suggest("name the task: task-…")
	}
	t, err := s.task(id)
	if err == nil {
		return t, nil
	}
	if managed, found := s.managedTask(id); found {
		return managed, nil
	}
	return t, err
}

// liveRunOf is the run that a caller is; nothing if it is none.
func (s *scene) liveRunOf(caller Caller) (r parley.Run, err error) {
	if caller.Run == "" {
		return r, nil
	}
	return s.liveRun(caller.Run)
}

// managedTask is a task of somebody whose manager the caller is.
func (s *scene) managedTask(id string) (parley.Task, bool) {
	t, err := s.Tasks().Get(taskKey(id))
	if err != nil {
		return t, false
	}
	assignee, err := s.Agents().Find(t.Assignee)
	return t, err == nil && assignee.Manager == s.me.ID
}

// UpdateTask says how a task goes, or that it has ended. Without an id: the task of the caller's run. Only the word of
// its assignee, or of an owner, counts.
func (h *Hub) UpdateTask(ctx context.Context, caller Caller, id string, c parley.TaskChange) (parley.TaskView, error) {
	if err := c.Check(h.config.Limits); err != nil {
		return parley.TaskView{}, err
	}
	return h.onTask(ctx, caller, opUpdateTask, id, func(s *scene, t *parley.Task) error {
		if !s.speaksFor(*t) {
			return parley.Errorf(parley.NotPermitted, "%s is for %s to speak of", t.ID, t.Assignee).
				Suggest("its requester may cancel it, have it done again or give it to somebody else")
		}
		return s.sayOfTask(t, c)
	})
}

// CancelTask cancels a task and all under it. Those may who asked for it or for what it is under, who divided that up,
// its assignee's manager, and owners.
func (h *Hub) CancelTask(ctx context.Context, caller Caller, id, reason string) (parley.TaskView, error) {
	if err := parley.CheckReason(reason); err != nil {
		return parley.TaskView{}, err
	}
	return h.directTask(ctx, caller, opCancelTask, taskArgs{Task: id, Act: cancelsTask, Reason: reason})
}

func (s *scene) cancelTask(t parley.Task, reason string) error {
	if t.Assignee == s.me.ID && t.Requester != s.me.ID && !s.seesAll() {
		return parley.Errorf(parley.NotPermitted, "%s may not cancel what %s has asked for", s.me.ID, t.Requester).
			Suggest("say that it has failed, and why")
	}
	return s.endTask(t, cancelling(reason))
}

// speaksFor says whether the caller's word counts for a task.
func (s *scene) speaksFor(t parley.Task) bool { return t.Assignee == s.me.ID || s.seesAll() }

// sayOfTask does what is said of a task: its progress, its result, its end.
func (s *scene) sayOfTask(t *parley.Task, c parley.TaskChange) error {
	if t.Status.Ended() {
		return endedAlready(*t)
	}
	if c.Progress != nil {
		if err := s.progress(t, *c.Progress); err != nil {
			return err
		}
	}
	how := ending{status: c.Status, own: t.Assignee == s.me.ID}
	switch c.Status {
	case parley.TaskCompleted:
		if err := s.mustBeFree(*t); err != nil {
			return err
		}
		how.outcome, how.result = c.Outcome, c.Result
		setDefault(&how.outcome, parley.OutcomeSuccess)
	case parley.TaskFailed:
		how.result, how.cause = c.Result, parley.Errorf(parley.DependencyFailed, "%s", c.Reason)
		setDefault(&how.cause.Message, "no reason was given")
	default:
		return s.setResult(t, c.Result)
	}
	return s.endTask(*t, how)
}

// endedAlready refuses what comes too late for a task.
func endedAlready(t parley.Task) error {
	next := "who asked for it may have it done again"
	if t.Status == parley.TaskCompleted {
		next = "what is still to be done is another task"
	}
	return parley.Errorf(parley.BadInput, "%s is %s already", t.ID, t.Status).Because(parley.Conflict).Suggest("%s", next)
}

// setResult keeps what a task will end with.
func (s *scene) setResult(t *parley.Task, r *parley.TaskResult) error {
	if r == nil {
		return nil
	}
	after := *t
	after.Result = r
	return s.keepTask(t, after)
}

// mustBeFree refuses to complete a task that something else is to be done for.
func (s *scene) mustBeFree(t parley.Task) error {
	waits, err := s.waitsOn(t)
	switch {
	case err != nil:
		return err
	case len(waits.Subtasks) > 0:
		return parley.Errorf(parley.BadInput, "%s has open subtasks: %s", t.ID, listed(waits.Subtasks)).Because(parley.Conflict).
			Suggest("wait for them, or cancel them first")
	case waits.Approval != "":
		return parley.Errorf(parley.BadInput, "%s waits for an approval: %s", t.ID, waits.Approval).Because(parley.Conflict).
			Suggest("wait until it is decided")
	default:
		return nil
	}
}

// progress keeps how far a task has come. What is left out stays, but for blockers: with none it is not blocked any
// more. The requester of one that has become blocked is told.
func (s *scene) progress(t *parley.Task, p parley.TaskProgress) error {
	waits, err := s.waitsForOthers(*t)
	if err == nil && t.Status == parley.TaskQueued && !waits { // what waits is still to be asked for
		err = s.stepTask(t, parley.TaskActive, nil)
	}
	if err != nil {
		return err
	}
	blocked, before := t.Blocked(), t.Progress
	after := *t
	after.Progress = merged(before, p)
	after.Progress.At, after.Progress.Untold = s.now, before != nil && before.Untold
	if err := s.keepTask(t, after); err != nil {
		return err
	}
	if err := s.noteTask(parley.EventTaskProgress, *t); err != nil {
		return err
	}
	if inTree, err := s.reportProgress(t, before); err != nil || inTree || blocked || !t.Blocked() {
		return err
	}
	return s.tellBlocked(*t)
}

func merged(before *parley.TaskProgress, p parley.TaskProgress) *parley.TaskProgress {
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
	setDefault(&p.Message, before.Message)
	p.Blockers = slices.Clip(p.Blockers)
	return &p
}

// tellBlocked lets the requester of a task know that it cannot go on. Only who fetches for itself is woken for it.
func (s *scene) tellBlocked(t parley.Task) error {
	to, err := s.Agents().Find(t.Requester)
	if err != nil || to.RemovedAt != nil || to.ID == t.Assignee || to.ID == s.finder {
		return err
	}
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	where, err := s.callbackPlace(callback{to: to.ID, conversation: cmp.Or(t.CallbackTo, t.Conversation), about: t.Assignee})
	if err != nil {
		return err
	}
	reach := parley.Reach{Agent: to.ID, Wakes: !to.Dispatched()}
	if reach.Wakes {
		reach.Purpose = parley.PurposeTask
	}
	text := parley.Wording{}.Name(assignee.ID, assignee.Name).Own(" is blocked on "+t.ID+": ").Quote(assignee.ID, listed(t.Progress.Blockers))
	_, err = s.speak(parley.Message{
		To: to.ID, Conversation: where, Type: parley.TypeStatus, Task: t.Parent, TraceID: t.TraceID,
	}, text, reach)
	return err
}

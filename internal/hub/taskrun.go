package hub

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// taskRunEnded is called when a run in a task has ended well, with its answer: it completes the task, unless
// something under it is open, or something waits for its next run.
func (s *scene) taskRunEnded(r parley.Run, text string) error {
	t, mine, err := s.taskAt(r)
	if err != nil || !mine {
		return err
	}
	if goesOn, err := s.goesOn(t); err != nil || goesOn {
		return err
	}
	how := ending{status: parley.TaskCompleted, outcome: parley.OutcomeSuccess, answer: r.Answer}
	if t.Result == nil {
		if text == "" {
			var last parley.Message
			last, err = s.lastSaid(r)
			text, how.answer = last.Content.Text, last.ID
		}
		how.result = &parley.TaskResult{Text: text}
	}
	if err != nil {
		return err
	}
	return s.endTask(t, how)
}

// taskRunFailed is called when a run in a task has not ended well: then the task has failed, unless it goes on, or what
// woke the run comes again.
func (s *scene) taskRunFailed(r parley.Run, cause *parley.Error) error {
	t, mine, err := s.taskAt(r)
	if err != nil || !mine {
		return err
	}
	list, err := s.Deliveries().GetAll(r.Agent, r.Triggers)
	if err != nil || slices.ContainsFunc(list, parley.Delivery.Open) {
		return err
	}
	return s.failUnlessOn(t, because(*cause, r.Agent))
}

// taskAt is the open task that a run is in, if it is its agent's own.
func (s *scene) taskAt(r parley.Run) (t parley.Task, mine bool, err error) {
	if r.Task == "" {
		return t, false, nil
	}
	t, err = s.Tasks().Get(r.Task)
	if errors.Is(err, parley.ErrNotFound) {
		return t, false, nil
	}
	return t, err == nil && !t.Status.Ended() && t.Assignee == r.Agent, err
}

// enterTask keeps a planned run in the task of its trigger only if that task is open and its agent's own. A further attempt, and
// one after a crash, goes on with the task that an earlier run was given.
func (s *scene) enterTask(r *parley.Run, lead parley.Delivery) (err error) {
	if r.Task == "" && (r.Attempt > 1 || lead.Failure != nil) {
		r.Task, err = s.givenFor(lead)
	}
	if err != nil {
		return err
	}
	t, mine, err := s.taskAt(*r)
	if err != nil {
		return err
	}
	if !mine {
		r.Task = ""
		return nil
	}
	r.Depth, err = s.askDepth(t)
	return err
}

// lastSaid is the last message that a run has posted where it was woken, if there is one.
func (s *scene) lastSaid(r parley.Run) (last parley.Message, err error) {
	list, err := s.postedBy(r)
	for _, m := range list {
		if m.Conversation == r.Conversation {
			last = m
		}
	}
	return last, err
}

// givenFor is the task that a run of the delivery was given.
func (s *scene) givenFor(d parley.Delivery) (task string, err error) {
	runs, err := s.Runs().WokenBy(d.Message, d.Recipient)
	for _, r := range runs {
		if r.Task != "" {
			task = r.Task
		}
	}
	return task, err
}

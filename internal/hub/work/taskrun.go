package work

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TaskRunEnded is called when a run in a task has ended well. It completes the task with the answer of the run, unless the task goes
// on.
func TaskRunEnded(u *unit.Unit, r parley.Run, text string) error {
	t, mine, err := FindOpenTask(u, r)
	if err != nil || !mine {
		return err
	}
	if goesOn, err := goesOn(u, t); err != nil || goesOn {
		return err
	}
	how := Ending{Status: parley.TaskCompleted, outcome: parley.OutcomeSuccess, answer: r.Answer}
	if t.Result == nil {
		if text == "" {
			var last parley.Message
			last, err = lastSaid(u, r)
			text, how.answer = last.Content.Text, last.ID
		}
		how.result = &parley.TaskResult{Text: text}
	}
	if err != nil {
		return err
	}
	return EndTask(u, t, how)
}

// TaskRunFailed is called when a run in a task has failed. The task fails too, unless it goes on, or the hub retries the deliveries
// that woke the run.
func TaskRunFailed(u *unit.Unit, r parley.Run, cause *parley.Error) error {
	t, mine, err := FindOpenTask(u, r)
	if err != nil || !mine {
		return err
	}
	list, err := u.Deliveries().GetAll(r.Agent, r.Triggers)
	if err != nil || slices.ContainsFunc(list, parley.Delivery.Open) {
		return err
	}
	return FailUnlessGoingOn(u, t, FailureWithoutName(*cause, r.Agent))
}

// FindOpenTask returns the task of a run. mine is true if the task is open and assigned to the agent of the run. If the task exists, t is
// set even if mine is false.
func FindOpenTask(u *unit.Unit, r parley.Run) (t parley.Task, mine bool, err error) {
	if r.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(r.Task)
	if errors.Is(err, parley.ErrNotFound) {
		return t, false, nil
	}
	return t, err == nil && !t.Status.Ended() && t.Assignee == r.Agent, err
}

// EnterTask sets the task of a planned run: that of its trigger if it is open and given to the agent. A further attempt, or one after a
// crash, goes on with the task that an earlier run was given.
func EnterTask(u *unit.Unit, r *parley.Run, lead parley.Delivery) (err error) {
	if r.Task == "" && (r.Attempt > 1 || lead.Failure != nil) {
		r.Task, err = reports.FindGivenTask(u, lead)
	}
	if err != nil {
		return err
	}
	t, mine, err := FindOpenTask(u, *r)
	if err != nil {
		return err
	}
	if !mine {
		r.Task = ""
		return nil
	}
	r.Depth, err = askDepth(u, t)
	return err
}

// lastSaid returns the last message that a run has posted in the conversation that woke it, if there is one.
func lastSaid(u *unit.Unit, r parley.Run) (last parley.Message, err error) {
	list, err := runs.PostsOf(u, r)
	for _, m := range list {
		if m.Conversation == r.Conversation {
			last = m
		}
	}
	return last, err
}

// goesOn reports whether a task goes on after one of its runs has ended: it has an open subtask or approval, waits for other
// tasks, or has or will get another run.
func goesOn(u *unit.Unit, t parley.Task) (bool, error) { return goesOnWithout(u, t, parley.Run{}) }

// goesOnWithout reports whether a task would go on if one of its runs ended.
func goesOnWithout(u *unit.Unit, t parley.Task, r parley.Run) (bool, error) {
	waits, err := tasks.WaitsOn(u, t)
	if err != nil || len(waits.Subtasks) > 0 || waits.Approval != "" || len(waits.After) > 0 {
		return true, err
	}
	coming, err := u.Queue().OfTask(t.Assignee, t.ID, 1+len(r.Triggers))
	if err != nil || slices.ContainsFunc(coming, func(d parley.Delivery) bool { return d.Lease == "" || d.Lease != r.ID }) {
		return true, err
	}
	if comes, err := requestComes(u, t, r); err != nil || comes {
		return true, err
	}
	live, err := u.Runs().InTask(t.ID)
	return slices.ContainsFunc(live, func(other parley.Run) bool { return other.Agent == t.Assignee && other.ID != r.ID }), err
}

// FailUnlessGoingOn fails a task unless it goes on.
func FailUnlessGoingOn(u *unit.Unit, t parley.Task, cause *parley.Error) error {
	if goesOn, err := goesOn(u, t); err != nil || goesOn {
		return err
	}
	return EndTask(u, t, failing(cause))
}

// EndRun ends a run: its token and its waits end with it, and its agent may start another run.
func EndRun(u *unit.Unit, r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if err := runs.SetState(u, r, to, edit); err != nil {
		return err
	}
	u.Wake(r.Agent)
	if err := freeWaits(u, *r); err != nil {
		return err
	}
	if err := lastRunEnded(u, *r); err != nil {
		return err
	}
	if err := passTurns(u, *r); err != nil {
		return err
	}
	if err := runs.EraseToken(u, *r); err != nil {
		return err
	}
	live, err := u.Runs().Live(r.Agent)
	if err != nil || len(live) > 0 {
		return err
	}
	a, err := u.Agents().Find(r.Agent)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	return presence.NotePresenceOf(u, a, 0)
}

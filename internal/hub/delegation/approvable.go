package delegation

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Calls returns the calls of this package that can need an approval.
func Calls(s *Service) map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{
		policy.ToolTask:    unit.Approvable(taskWords, prepareTask),
		policy.ToolNewTask: unit.Approvable(newTaskWords, s.prepareNewTask),
	}
}

// directOrHold cancels, retries or reassigns a task. It returns *parley.Held if that needs an approval.
func directOrHold(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, args policy.TaskArgs) (view parley.TaskView, err error) {
	view, err = changeTask(ctx, core, caller, do, args.Task, func(u *unit.Unit, t *parley.Task) error {
		args.Task = t.ID
		if err := tasks.Resolve(u, &args.Assignee); err != nil {
			return err
		}
		return directTask(u, unit.Origin{Caller: caller}, t, args)
	})
	return view, holding.HoldIfNeeded(ctx, core, caller, err, policy.ToolTask, args)
}

// directTask checks the caller's mode last, because a call that a rule refuses needs no approval. If the call is held, the
// update is rolled back.
func directTask(u *unit.Unit, o unit.Origin, t *parley.Task, args policy.TaskArgs) (err error) {
	ofOther := t.Assignee != u.Me.ID
	switch args.Act {
	case policy.CancelsTask:
		err = cancelTask(u, *t, args.Reason)
	case policy.RetriesTask:
		err = assignment.RetryTask(u, o, t)
	default:
		err = assignment.ReassignTask(u, o, t, args.Assignee)
	}
	if err == nil && ofOther {
		err = policy.MustWrite(u, o, "")
	}
	return err
}

func taskWords(u *unit.Unit, _ string, args policy.TaskArgs) (unit.CallWords, error) {
	assignee, err := approvals.DisplayName(u, args.Assignee)
	return unit.CallWords{
		Wants: "update " + args.Task, Doing: "updating " + args.Task, Action: args.Act,
		Parts: []parley.ApprovalPart{{Label: "Assignee", Text: assignee}, {Label: "Reason", Text: args.Reason}},
	}, err
}

func prepareTask(_ context.Context, as unit.Caller, args policy.TaskArgs) (unit.Execution, error) {
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		t, err := taskToChange(u, as, args.Task)
		if err == nil {
			err = directTask(u, unit.Origin{Caller: as, Approved: &a}, &t, args)
		}
		return unit.Result{Text: args.Task + " was updated: " + args.Act + "."}, err
	}, nil
}

func newTaskWords(u *unit.Unit, agent string, n parley.NewTask) (unit.CallWords, error) {
	c := contactOf(n)
	w, err := contact.ContactWords(u, agent, c)
	w.Parts = append(w.Parts, parley.ApprovalPart{Label: "Title", Text: n.Title}, parley.ApprovalPart{Label: "Under", Text: n.Parent},
		parley.ApprovalPart{Label: "Reason", Text: n.DelegationReason})
	return w, err
}

func (s *Service) prepareNewTask(_ context.Context, as unit.Caller, n parley.NewTask) (unit.Execution, error) {
	if err := n.Check(s.Config.Limits); err != nil {
		return nil, err
	}
	request := contact.Prepare(contactOf(n))
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		made, err := requestTask(u, unit.Origin{Caller: as, Approved: &a}, n, request)
		if err != nil {
			return unit.Result{}, err
		}
		notices, err := post.UnknownNoticesIn(u)
		return unit.Result{Text: unit.WithNotices("Delegated as "+made.Task+".", append(made.Notices, notices...))}, err
	}, nil
}

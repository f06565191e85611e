package hub

import (
	"context"

	"github.com/parley-hub/parley"
)

// taskTools are the approvable calls of tasks.
func (h *Hub) taskTools() map[string]heldTool {
	return map[string]heldTool{
		toolTask:    tool(taskWords, prepareTask),
		toolNewTask: tool(newTaskWords, h.prepareNewTask),
	}
}

// taskArgs are what somebody does to a task that is not its own to speak of.
type taskArgs struct {
	Task     string `json:"task"`
	Act      string `json:"act"`
	Reason   string `json:"reason,omitempty"`
	Assignee string `json:"assignee,omitempty"`
}

// The acts.
const (
	cancelsTask   = "cancel"
	retriesTask   = "retry"
	reassignsTask = "reassign"
)

// directTask cancels a task, has it done again or gives it to somebody else. *parley.Held if that needs an approval.
func (h *Hub) directTask(ctx context.Context, caller Caller, do op, args taskArgs) (view parley.TaskView, err error) {
	view, err = h.onTask(ctx, caller, do, args.Task, func(s *scene, t *parley.Task) error {
		args.Task = t.ID
		if err := s.resolve(&args.Assignee); err != nil {
			return err
		}
		return s.directTask(origin{caller: caller}, t, args)
	})
	return view, h.heldOr(ctx, caller, err, toolTask, args)
}

// directTask asks the mode last, as for every call: what a rule refuses needs no approval. If it is held, nothing of
// it remains.
func (s *scene) directTask(o origin, t *parley.Task, args taskArgs) (err error) {
	others := t.Assignee != s.me.ID
	switch args.Act {
	case cancelsTask:
		err = s.cancelTask(*t, args.Reason)
	case retriesTask:
		err = s.retryTask(o, t)
	default:
		err = s.reassignTask(o, t, args.Assignee)
	}
	if err == nil && others {
		err = s.mustWrite(o, "")
	}
	return err
}

func taskWords(s *scene, _ string, args taskArgs) (words, error) {
	assignee, err := s.nameOf(args.Assignee)
	return words{
		wants: "update " + args.Task, doing: "updating " + args.Task, action: args.Act,
		parts: []parley.ApprovalPart{{Label: "Assignee", Text: assignee}, {Label: "Reason", Text: args.Reason}},
	}, err
}

func prepareTask(_ context.Context, as Caller, args taskArgs) (execution, error) {
	return func(s *scene, a parley.Approval) (returned, error) {
		t, err := s.taskToChange(as, args.Task)
		if err == nil {
			err = s.directTask(origin{caller: as, approved: &a}, &t, args)
		}
		return returned{text: args.Task + " was updated: " + args.Act + "."}, err
	}, nil
}

func newTaskWords(s *scene, agent string, n parley.NewTask) (words, error) {
	c := asContact(n)
	w, err := contactWords(s, agent, c)
	w.parts = append(w.parts, parley.ApprovalPart{Label: "Title", Text: n.Title}, parley.ApprovalPart{Label: "Under", Text: n.Parent},
		parley.ApprovalPart{Label: "Reason", Text: n.DelegationReason})
	return w, err
}

func (h *Hub) prepareNewTask(_ context.Context, as Caller, n parley.NewTask) (execution, error) {
	if err := n.Check(h.config.Limits); err != nil {
		return nil, err
	}
	return func(s *scene, a parley.Approval) (returned, error) {
		made, err := s.askForTask(origin{caller: as, approved: &a}, n)
		if err != nil {
			return returned{}, err
		}
		notices, err := s.aboutUnknown()
		return returned{text: withNotices("Delegated as "+made.Task+".", append(made.Notices, notices...))}, err
	}, nil
}

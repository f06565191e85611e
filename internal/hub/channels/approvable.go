package channels

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Calls returns the calls of this package that can need an approval.
func Calls() map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{
		policy.ToolMakeConversation: unit.Approvable(makeWords, prepareMake),
		policy.ToolConversation:     unit.Approvable(changeWords, prepareChange),
	}
}

// changeOrHold changes a conversation or its members. It returns *parley.Held if that needs an approval.
func changeOrHold(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, args policy.ConversationArgs) (view parley.ConversationView, err error) {
	err = core.Update(ctx, caller, do, func(u *unit.Unit) (err error) {
		view, err = applyChange(u, unit.Origin{Caller: caller}, &args)
		return err
	})
	if err != nil {
		return parley.ConversationView{}, holding.HoldIfNeeded(ctx, core, caller, err, policy.ToolConversation, args)
	}
	return view, nil
}

// applyChange makes a change and then checks whether the caller's mode holds the call, because a call that would be refused, or
// would change nothing, needs no approval. If the call is held, the update is rolled back. The names in args become ids.
func applyChange(u *unit.Unit, o unit.Origin, args *policy.ConversationArgs) (view parley.ConversationView, err error) {
	p, err := conversations.Conversation(u, args.Conversation)
	if err != nil {
		return view, err
	}
	args.Conversation = p.ID
	before := len(u.Events)
	switch args.Act {
	case policy.JoinsConversation:
		err = conversations.JoinIn(u, p)
	case policy.LeavesConversation:
		err = conversations.LeaveFrom(u, p)
	case policy.AddsMember:
		err = addMember(u, o, p, &args.Agent)
	case policy.RemovesMember:
		err = removeMember(u, p, &args.Agent)
	default:
		err = conversations.Alter(u, &p, *args.Change)
	}
	if err == nil && len(u.Events) > before {
		err = policy.MustWrite(u, o, "")
	}
	if hold, held := errors.AsType[unit.HeldBy](err); held && args.Act == policy.AddsMember {
		hold.Target = args.Agent
		return view, hold
	}
	if err != nil || args.Act != policy.ChangesConversation {
		return parley.ConversationView{Conversation: p.Conversation}, err
	}
	return conversations.See(u, p.Conversation)
}

func changeWords(u *unit.Unit, _ string, args policy.ConversationArgs) (unit.CallWords, error) {
	title, err := conversations.TitleOf(u, args.Conversation)
	if err != nil {
		return unit.CallWords{}, err
	}
	name, err := approvals.DisplayName(u, args.Agent)
	w := unit.CallWords{Action: args.Act}
	switch args.Act {
	case policy.JoinsConversation:
		w.Wants, w.Doing = "join "+title, "joining "+title
	case policy.LeavesConversation:
		w.Wants, w.Doing = "leave "+title, "leaving "+title
	case policy.AddsMember:
		w.Wants, w.Doing = "add "+name+" to "+title, "adding "+name+" to "+title
	case policy.RemovesMember:
		w.Wants, w.Doing = "remove "+name+" from "+title, "removing "+name+" from "+title
	default:
		w.Wants, w.Doing = "change "+title, "changing "+title
		w.Action, w.Parts = args.Change.ApprovalParts()
	}
	return w, err
}

func prepareChange(_ context.Context, as unit.Caller, args policy.ConversationArgs) (unit.Execution, error) {
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		args := args // because the execution can run again
		view, err := applyChange(u, unit.Origin{Caller: as, Approved: &a}, &args)
		return unit.Result{Text: "Done: " + args.Act + ", conversation " + args.Conversation + " (" + view.Title() + ")."}, err
	}, nil
}

func makeWords(u *unit.Unit, _ string, n parley.NewConversation) (unit.CallWords, error) {
	c, names := conversations.NewConversation(n), []string{}
	for _, id := range n.With {
		name, err := approvals.DisplayName(u, id)
		if err != nil {
			return unit.CallWords{}, err
		}
		names = append(names, name)
	}
	doing := "make the " + string(c.Visibility) + " " + string(c.Kind) + " " + c.Title()
	return unit.CallWords{
		Wants: doing, Doing: "making" + strings.TrimPrefix(doing, "make"), Action: policy.ToolMakeConversation,
		Parts: []parley.ApprovalPart{
			{Label: "Display name", Text: n.DisplayName},
			{Label: "With", Text: strings.Join(names, ", ")},
			{Label: "Topic", Text: n.Topic},
			{Label: "Answers", Text: string(n.Answers)},
		},
	}, nil
}

func prepareMake(_ context.Context, as unit.Caller, n parley.NewConversation) (unit.Execution, error) {
	n, err := conversations.CheckNewConversation(n)
	if err != nil {
		return nil, err
	}
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		n := n // because the execution can run again
		n.With = slices.Clone(n.With)
		view, err := makeConversation(u, unit.Origin{Caller: as, Approved: &a}, &n)
		return unit.Result{Text: "Made " + view.Title() + ", conversation " + view.ID + "."}, err
	}, nil
}

package decisions

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Calls returns the calls that only read and can need an approval, and the use of tools outside of the hub.
func Calls(s *Service) map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{
		policy.ToolRead:    unit.Approvable(readWords, s.prepareRead),
		policy.ToolMessage: unit.Approvable(messageWords, s.prepareMessage),
		policy.ToolQuery:   unit.Approvable(queryWords, s.prepareQuery),
		policy.ToolUse:     unit.Approvable(toolUseWords, prepareToolUse),
	}
}

func readWords(u *unit.Unit, _ string, args policy.ReadArgs) (unit.CallWords, error) {
	_, destination, err := approvals.DraftDestination(u, "", parley.Draft{Conversation: args.Conversation})
	return unit.CallWords{Wants: "read " + destination, Doing: "reading " + destination, Action: policy.ToolRead}, err
}

func (s *Service) prepareRead(ctx context.Context, as unit.Caller, args policy.ReadArgs) (unit.Execution, error) {
	list, err := s.reading.History(ctx, as, args.Conversation, args.Page)
	return readResult(list, err)
}

func messageWords(_ *unit.Unit, _ string, args policy.MessageArgs) (unit.CallWords, error) {
	subject := "message " + args.Message
	if args.Thread {
		subject = "the thread of " + subject
	}
	return unit.CallWords{Wants: "read " + subject, Doing: "reading " + subject, Action: policy.ToolMessage}, nil
}

func (s *Service) prepareMessage(ctx context.Context, as unit.Caller, args policy.MessageArgs) (unit.Execution, error) {
	if args.Thread {
		return readResult(s.reading.Thread(ctx, as, args.Message))
	}
	return readResult(s.reading.Message(ctx, as, args.Message))
}

func queryWords(u *unit.Unit, _ string, args policy.QueryArgs) (w unit.CallWords, err error) {
	subject := args.Subject
	switch args.Action {
	case policy.ShowAgent:
		subject, err = approvals.DisplayName(u, subject)
	case policy.ShowChannel:
		_, subject, err = approvals.DraftDestination(u, "", parley.Draft{Conversation: subject})
	}
	about := map[string][2]string{
		policy.ListAgents:   {"list agents", "listing agents"},
		policy.ShowAgent:    {"look at " + subject, "looking at " + subject},
		policy.ListChannels: {"list conversations", "listing conversations"},
		policy.ShowChannel:  {"look at " + subject, "looking at " + subject},
		policy.ListTasks:    {"list tasks", "listing tasks"},
		policy.ListAsks:     {"list asks", "listing asks"},
		policy.ShowTask:     {"look at " + subject, "looking at " + subject},
		policy.Searching:    {"search", "searching"},
		policy.Tracing:      {"trace " + subject, "tracing " + subject},
	}[args.Action]
	w = unit.CallWords{Wants: about[0], Doing: about[1], Action: args.Action}
	if args.Search != nil {
		w.Parts = []parley.ApprovalPart{{Label: "Query", Text: args.Search.Query}}
	}
	return w, err
}

func (s *Service) prepareQuery(ctx context.Context, as unit.Caller, args policy.QueryArgs) (unit.Execution, error) {
	switch args.Action {
	case policy.ListAgents:
		return readResult(s.roster.Who(ctx, as))
	case policy.ShowAgent:
		return readResult(s.roster.AgentView(ctx, as, args.Subject))
	case policy.ListChannels:
		list, _, err := s.channels.Conversations(ctx, as, args.List)
		return readResult(list, err)
	case policy.ShowChannel:
		return readResult(s.channels.Conversation(ctx, as, args.Subject))
	case policy.ListTasks:
		return readResult(s.delegation.Tasks(ctx, as, *args.Tasks))
	case policy.ListAsks:
		return readResult(s.contact.Asks(ctx, as, *args.Asks))
	case policy.ShowTask:
		return readResult(s.delegation.TaskTree(ctx, as, args.Subject))
	case policy.Searching:
		return readResult(s.reading.Search(ctx, as, *args.Search))
	case policy.Tracing:
		return readResult(s.reading.Trace(ctx, as, args.Subject))
	default:
		return nil, parley.Errorf(parley.BadInput, "there is no query %q", args.Action).Suggest("ask again")
	}
}

// readResult returns the execution of a call that only reads. The call was made before, and its caller gets the result as JSON.
func readResult[T any](result T, err error) (unit.Execution, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result)
	return func(*unit.Unit, parley.Approval) (unit.Result, error) { return unit.Result{Text: string(raw)}, nil }, err
}

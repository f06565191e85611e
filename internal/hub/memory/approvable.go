package memory

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Calls returns the calls of this package that can need an approval.
func Calls(s *Service) map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{policy.ToolMemory: unit.Approvable(words, s.prepare)}
}

// words describes a held call to its approver, who sees the text of a note that is to be remembered or forgotten.
func words(u *unit.Unit, _ string, args policy.MemoryArgs) (w unit.CallWords, err error) {
	w.Action = args.Action
	switch args.Action {
	case policy.Remembers:
		where, err := memoryName(u, "", args.New.Conversation)
		w.Wants, w.Doing = "remember a note in "+where, "remembering a note in "+where
		w.Parts = []parley.ApprovalPart{{Label: "Note", Text: args.New.Text}}
		return w, err
	case policy.Recalls:
		where, err := memoryName(u, args.Filter.Agent, args.Filter.Conversation)
		w.Wants, w.Doing = "recall "+where, "recalling "+where
		w.Parts = []parley.ApprovalPart{{Label: "Query", Text: args.Filter.Query}}
		return w, err
	default:
		w.Wants, w.Doing = "forget "+args.Note, "forgetting "+args.Note
		n, err := u.Notes().Get(args.Note)
		w.Parts = []parley.ApprovalPart{{Label: "Note", Text: n.Text}}
		return w, unit.IgnoreNotFound(err)
	}
}

// memoryName returns the name of a memory: its own for the one of the caller.
func memoryName(u *unit.Unit, agent, conversation string) (string, error) {
	if conversation != "" {
		title, err := conversations.TitleOf(u, conversation)
		return "the memory of " + title, err
	}
	if agent == "" || agent == u.Me.ID {
		return "its own memory", nil
	}
	name, err := approvals.DisplayName(u, agent)
	return "the memory of " + name, err
}

func (s *Service) prepare(ctx context.Context, as unit.Caller, args policy.MemoryArgs) (unit.Execution, error) {
	switch args.Action {
	case policy.Remembers:
		if err := args.New.Check(); err != nil {
			return nil, err
		}
		return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
			n := *args.New // because the execution can run again
			note, err := remember(u, unit.Origin{Caller: as, Approved: &a}, &n)
			return unit.Result{Text: rememberedText(note)}, err
		}, nil
	case policy.Recalls:
		list, err := s.Recall(ctx, as, *args.Filter)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(list)
		return func(*unit.Unit, parley.Approval) (unit.Result, error) { return unit.Result{Text: string(raw)}, nil }, err
	default:
		return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
			id := args.Note
			err := forget(u, unit.Origin{Caller: as, Approved: &a}, &id)
			return unit.Result{Text: id + " is forgotten."}, err
		}, nil
	}
}

// rememberedText is the result of an approved call that wrote a note. A redaction finds the call by it.
func rememberedText(n parley.Note) string { return "Noted as " + n.ID + "." }

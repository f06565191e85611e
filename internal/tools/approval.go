package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

var decideApproval = Tool{
	Name:        "decide_approval",
	Title:       "Decide Approval",
	Description: "Approves or denies a call of another agent that waits for your decision. Your decision is final.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"id":{"type":"string","description":"The approval, such as approval-7"},` +
		`"approve":{"type":"boolean"},` +
		`"note":{"type":"string","description":"Sent to the requester"}},` +
		`"required":["id","approve"],"additionalProperties":false}`),
	Result: json.RawMessage(`{"type":"object","properties":{"approval":{"type":"string"},"state":{"type":"string"},"failure":{"type":"string"}}}`),
	call:   withArguments(decide),
}

type decideArgs struct {
	ID      string `json:"id"`
	Approve *bool  `json:"approve"`
	Note    string `json:"note"`
}

type decisionData struct {
	Approval string               `json:"approval"`
	State    parley.ApprovalState `json:"state"`
	Failure  string               `json:"failure,omitempty"`
}

func decide(ctx context.Context, p Participant, args decideArgs) (Result, error) {
	if err := require("id", args.ID); err != nil {
		return Result{}, err
	}
	if args.Approve == nil { // a missing argument means neither yes nor no
		return Result{}, require("approve", "")
	}
	a, err := p.Workspace.DecideApproval(ctx, args.ID, parley.Decision{Approve: *args.Approve, Note: args.Note})
	if err != nil {
		return Result{}, err
	}
	text, data := fmt.Sprintf("%s is %s.\n", quote.Word(a.ShortName()), quote.Word(string(a.State))), decisionData{Approval: a.ShortName(), State: a.State}
	if a.Failure != nil {
		text += "The call failed:\n" + quote.Block(a.Failure.Message)
		data.Failure = a.Failure.Message
	}
	return Result{text, data}, nil
}

// approvalData is an approval in a list.
type approvalData struct {
	ID      string `json:"id"`
	Agent   string `json:"agent"`
	Summary string `json:"summary"`
}

func listApprovals(ctx context.Context, p Participant) (Result, error) {
	list, err := p.Workspace.Approvals(ctx, parley.ApprovalFilter{State: parley.ApprovalPending, Mine: true, Limit: maxRows})
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return itemsOf[approvalData]("No approval waits for your decision.\n", nil, 0), nil
	}
	var out strings.Builder
	var items []approvalData
	for i, a := range list {
		if out.Len() > maxBytes {
			fmt.Fprintf(&out, "(%d more)\n", len(list)-i)
			break
		}
		// The summary stays whole, however long: the approver must see all of it.
		fmt.Fprintf(&out, "%s, a call of %s:\n%s", quote.Word(a.ShortName()), quote.Word(a.Agent), quote.Block(a.Summary))
		items = append(items, approvalData{a.ShortName(), a.Agent, a.Summary})
	}
	return itemsOf(out.String(), items, len(list)-len(items)), nil
}

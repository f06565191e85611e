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
	call: withArguments(decide),
}

type decideArgs struct {
	ID      string `json:"id"`
	Approve *bool  `json:"approve"`
	Note    string `json:"note"`
}

func decide(ctx context.Context, p Participant, args decideArgs) (string, error) {
	if err := require("id", args.ID); err != nil {
		return "", err
	}
	if args.Approve == nil { // a missing argument means neither yes nor no
		return "", require("approve", "")
	}
	a, err := p.Workspace.DecideApproval(ctx, args.ID, parley.Decision{Approve: *args.Approve, Note: args.Note})
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s is %s.\n", quote.Word(a.ShortName()), quote.Word(string(a.State)))
	if a.Failure != nil {
		text += "The call failed:\n" + quote.Block(a.Failure.Message)
	}
	return text, nil
}

func listApprovals(ctx context.Context, p Participant) (string, error) {
	list, err := p.Workspace.Approvals(ctx, parley.ApprovalFilter{State: parley.ApprovalPending, Mine: true, Limit: maxRows})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "No approval waits for your decision.\n", nil
	}
	var out strings.Builder
	for i, a := range list {
		if out.Len() > maxBytes {
			fmt.Fprintf(&out, "(%d more)\n", len(list)-i)
			break
		}
		// The summary stays whole, however long: the approver must see all of it.
		fmt.Fprintf(&out, "%s, a call of %s:\n%s", quote.Word(a.ShortName()), quote.Word(a.Agent), quote.Block(a.Summary))
	}
	return out.String(), nil
}

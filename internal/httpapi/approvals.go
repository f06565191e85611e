package httpapi

import (
	"context"

	"github.com/parley-hub/parley"
)

type listApprovalsInput struct {
	State  string `query:"state" enum:"pending,approved,executed,denied,expired,withdrawn" doc:"Only approvals in this state."`
	Agent  string `query:"agent" doc:"Only calls of this agent."`
	Mine   bool   `query:"mine" doc:"Only approvals that the caller may decide."`
	Limit  int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listApprovals(ctx context.Context, c *call, in *listApprovalsInput) (page List[parley.Approval], err error) {
	size := pageInput{Limit: in.Limit}.size()
	filter := parley.ApprovalFilter{State: parley.ApprovalState(in.State), Agent: in.Agent, Mine: in.Mine, Limit: size}
	if place, err := decodeCursor[string](in.Cursor); err != nil {
		return page, err
	} else if place != nil {
		filter.Before = *place
	}
	page.Items, err = c.hub.Approvals(ctx, c.caller, filter)
	if len(page.Items) == size {
		page.Next = encodeCursor(page.Items[size-1].ID)
	}
	return page, err
}

type approvalInput struct {
	Approval string `path:"approval" doc:"The approval: its short name, its id, or a beginning or end of the id of six characters or more." example:"approval-7"`
}

func showApproval(ctx context.Context, c *call, in *approvalInput) (parley.Approval, error) {
	return c.hub.Approval(ctx, c.caller, in.Approval)
}

type decideApprovalInput struct {
	Approval string `path:"approval" doc:"The approval: its short name, its id, or a beginning or end of the id of six characters or more." example:"approval-7"`
	Body     DecisionRequest
}

// DecisionRequest approves or denies a call. Approve is required: a missing field does not mean no.
type DecisionRequest struct {
	Approve *bool  `json:"approve" required:"true" nullable:"false" doc:"Whether to approve the call."`
	Note    string `json:"note,omitempty" doc:"What the caller should know."`
}

func decideApproval(ctx context.Context, c *call, in *decideApprovalInput) (parley.Approval, error) {
	if in.Body.Approve == nil {
		return parley.Approval{}, parley.Errorf(parley.BadInput, "approve is missing").Suggest("send true or false")
	}
	return c.hub.Decide(ctx, c.caller, in.Approval, parley.Decision{Approve: *in.Body.Approve, Note: in.Body.Note})
}

// ToolUseRequest asks whether the caller's client may use a tool.
type ToolUseRequest struct {
	parley.ToolUse
	Wait float64 `json:"wait" minimum:"0" maximum:"600" doc:"How many seconds to wait for the decision."`
}

// toolUseTime is the time limit of a request for the use of a tool.
const toolUseTime = parley.MaxToolUseWait + defaultTime

func requestToolUse(ctx context.Context, c *call, in *bodyInput[ToolUseRequest]) (parley.Approval, error) {
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.Approval, error) {
		return c.hub.RequestToolUse(ctx, c.caller, in.Body.ToolUse, seconds(in.Body.Wait))
	})
}

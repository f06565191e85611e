package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// ApprovalsOptions selects approvals. The zero value selects all that the caller may see: approvals of its own calls, and
// approvals that it may decide.
type ApprovalsOptions struct {
	State parley.ApprovalState // only approvals in this state
	Agent string               // only calls of this agent
	Mine  bool                 // only approvals that the caller may decide
}

// Approvals returns a page of approvals, the newest first.
func (c *Client) Approvals(ctx context.Context, o ApprovalsOptions, page PageRequest) (Page[parley.Approval], error) {
	q := query(
		"state", string(o.State), "agent", o.Agent, "mine", flag(o.Mine), "cursor", page.Cursor, "limit", count(page.Limit),
	)
	return fetch[Page[parley.Approval]](ctx, c, q, "approvals")
}

// Approval returns one approval, with the exact call that it is for.
func (c *Client) Approval(ctx context.Context, id string) (parley.Approval, error) {
	return fetch[parley.Approval](ctx, c, nil, "approvals", id)
}

// Decide approves or denies a held call. The first decision stands: a later one returns E003, conflict.
func (c *Client) Decide(ctx context.Context, id string, d parley.Decision) (parley.Approval, error) {
	return call[parley.Approval](ctx, c, http.MethodPost, d, "approvals", id, "decide")
}

// RequestToolUse asks a person whether the caller's client may use a tool, and waits for the decision, at most parley.MaxToolUseWait.
// The use is allowed if the approval is executed. If ctx ends, the hub withdraws the approval.
func (c *Client) RequestToolUse(ctx context.Context, use parley.ToolUse, wait time.Duration) (parley.Approval, error) {
	wait = min(wait, parley.MaxToolUseWait)
	in := struct {
		parley.ToolUse
		Wait float64 `json:"wait"`
	}{use, wait.Seconds()}
	return callWith[parley.Approval](ctx, c, request{method: http.MethodPost}, in, wait, "approvals")
}
